/** What the routes that submit may answer with. */
import { idempotencyErrors } from '../../../core/plugin.js'
import { deliveryErrors } from '../deliveries/contract.js'
import { modelErrors } from '../models/contract.js'
import { sessionErrors } from '../sessions/contract.js'
import { runErrors } from './errors.js'

export const submitProblems = [
  sessionErrors.session_not_found,
  runErrors.session_ended,
  runErrors.session_busy,
  runErrors.run_input_missing,
  runErrors.run_input_conflict,
  runErrors.reserved_metadata_key,
  runErrors.run_queue_full,
  idempotencyErrors.idempotency_conflict,
  idempotencyErrors.invalid_idempotency_key,
  modelErrors.route_not_ready,
  modelErrors.generation_unsupported,
  runErrors.inline_asset_empty,
  runErrors.assets_unavailable,
  sessionErrors.route_not_allowed,
  runErrors.binding_key_blank,
  runErrors.binding_conflict,
  runErrors.reply_target_incomplete,
  deliveryErrors.reply_target_invalid,
  runErrors.reply_unavailable,
  runErrors.completion_requirement_invalid,
]
