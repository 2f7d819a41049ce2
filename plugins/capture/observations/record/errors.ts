import { defineErrors } from '../../../../core/plugin.js'

/** Problems of sources, observations and what runs are given of them. */
export const observationErrors = defineErrors({
  observation_source_not_found: {
    status: 404,
    domain: 'observations',
    detail: 'There is no observation source {source_id}.',
    action: 'See GET /v1/observation-sources for those that there are.',
  },
  observation_not_found: {
    status: 404,
    domain: 'observations',
    detail: 'There is no observation {observation_id}.',
    action: 'See GET /v1/observations?include_purged=true; what was purged long ago is forgotten.',
  },
  observation_purged: {
    status: 400,
    domain: 'observations',
    detail: 'Observation {observation_id} was purged.',
    action: 'Choose one that is active.',
  },
  observation_source_kind_conflict: {
    status: 409,
    domain: 'observations',
    detail: 'Source {source_id} is of kind {kind}, and that does not change.',
    action: 'Create another source for the other kind.',
  },
  capture_source_managed_by_agent: {
    status: 409,
    domain: 'capture',
    detail: 'Source {source_id} belongs to a capture agent, which has its tokens.',
    action: 'Provision or revoke the agent.',
  },
  upload_token_revoked: {
    status: 400,
    domain: 'observations',
    detail: 'This token of source {source_id} was revoked.',
    action: 'Choose another token.',
  },
  ingress_token_invalid: {
    status: 401,
    domain: 'observation_ingress',
    detail: 'The token does not open this.',
    action: 'Send Authorization: Bearer with the token of this source or agent; an operator can rotate it.',
  },
})
