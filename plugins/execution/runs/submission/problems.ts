/** What routes may answer with that take a submission. */
import { idempotencyErrors, Problem } from '../../../../core/plugin.js'
import { assetErrors, uploadProblems } from '../../../media/assets/contract.js'
import { boardErrors } from '../../../media/boards/contract.js'
import { secretErrors } from '../../../operator/secrets/contract.js'
import { deliveryErrors } from '../../deliveries/contract.js'
import { interceptionErrors } from '../../interception/contract.js'
import { modelErrors } from '../../models/contract.js'
import { sessionErrors } from '../../sessions/contract.js'
import { runErrors } from '../record/errors.js'

/** What a route may answer with that looks at a submission. */
export const checkProblems = [
  sessionErrors.session_not_found,
  runErrors.run_input_missing,
  runErrors.run_input_conflict,
  runErrors.reserved_metadata_key,
  modelErrors.generation_unsupported,
  modelErrors.model_family_mismatch,
  runErrors.inline_asset_empty,
  runErrors.assets_unavailable,
  sessionErrors.route_not_allowed,
  runErrors.binding_key_blank,
  runErrors.reply_target_incomplete,
  deliveryErrors.reply_target_invalid,
  secretErrors.secrets_key_unusable,
  runErrors.reply_unavailable,
  assetErrors.asset_not_found,
  boardErrors.board_not_found,
  boardErrors.board_revision_not_found,
]

/** What a route that submits may answer with. */
export const submitProblems = [
  ...checkProblems,
  runErrors.session_ended,
  runErrors.session_busy,
  runErrors.run_queue_full,
  runErrors.required_tools_missing,
  runErrors.run_expired,
  idempotencyErrors.idempotency_conflict,
  idempotencyErrors.invalid_idempotency_key,
  modelErrors.route_not_ready,
  runErrors.binding_conflict,
  runErrors.completion_requirement_invalid,
  runErrors.isolation_unavailable,
  interceptionErrors.hook_blocked,
  boardErrors.board_revision_invalid,
  boardErrors.board_empty,
  boardErrors.board_state_invalid,
  ...uploadProblems,
]

/** A problem whose fields stand elsewhere in a request, with their paths there; anything else as it is. */
export const placedBy = (error: unknown, place: (path: string) => string): unknown => {
  if (!(error instanceof Problem) || error.occurrence.errors === undefined) return error
  const errors = error.occurrence.errors.map(({ path, rule }) => ({ path: place(path), rule }))
  return new Problem(error.code, error.spec, { ...error.occurrence, errors })
}
