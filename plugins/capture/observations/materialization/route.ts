/** Gives observations to a run (observations-17). */
import {
  defineRoute,
  fingerprint,
  idempotencyKey,
  IdempotencyKey,
  jsonReply,
  object,
  type Route,
} from '../../../../core/plugin.js'
import { fileBytesOf, mostSubmissionBytes, RunView, submitProblems } from '../../../execution/runs/contract.js'
import { assetErrors } from '../../../media/assets/contract.js'
import { observationErrors } from '../record/errors.js'
import { materialize, type MaterializationParts } from './materialize.js'
import { materializationFields } from './request.js'

export const materializationRoute = (parts: MaterializationParts): Route =>
  defineRoute({
    id: 'observations.materialize',
    method: 'POST',
    path: '/v1/observation-materializations',
    summary: 'Gives observations to a run, as untrusted data, with what it is to do with them.',
    access: 'admin',
    body: object({ idempotency_key: IdempotencyKey, ...materializationFields }),
    bodyLimit: mostSubmissionBytes,
    fileBytes: ({ request }) => fileBytesOf(request),
    reply: jsonReply(RunView, 202),
    problems: [
      ...submitProblems,
      observationErrors.observation_not_found,
      observationErrors.observation_source_not_found,
      observationErrors.observation_purged,
      observationErrors.materialization_not_allowed,
      observationErrors.materialization_empty,
      assetErrors.asset_integrity_mismatch,
    ],
    durability: 'A',
    idempotent: true,
    example: {
      body: {
        target_session_id: 'door-watch',
        selection: { type: 'latest_from_source', source_id: 'door-camera', max_observations: 1 },
        request: { content: 'Is the door open?' },
      },
    },
    handler: async ({ body: { idempotency_key, ...wish }, hashes, caller, idempotencyKey: header }) => {
      const key = idempotencyKey(header, idempotency_key)
      const receipt =
        key === undefined ? undefined : { scope: 'observations.materialize', key, digest: fingerprint(wish, hashes) }
      const made = await materialize(parts, wish, {
        kind: 'observation_materialization',
        ...(receipt !== undefined && { receipt }),
      })
      return parts.runs.view(made, caller)
    },
  })
