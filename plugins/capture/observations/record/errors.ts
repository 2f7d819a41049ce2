import { defineErrors } from '../../../../core/plugin.js'

/** Where those are told of problems who send what they see and hear. */
export const ingressDomain = 'observation_ingress'

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
    action: 'See GET /v1/observations for those that there are; what was purged long ago is forgotten.',
  },
  stream_without_source: {
    status: 400,
    domain: 'observations',
    detail: 'A stream is one of a source, which is not named.',
    action: 'Name the source with source_id.',
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
    detail: 'Source {source_id} is of another: capture agents have sources of their own, and operators theirs.',
    action: 'Provision or revoke the agent that it is of; for an agent, name the machine otherwise.',
  },
  upload_token_revoked: {
    status: 400,
    domain: 'observations',
    detail: 'This token of source {source_id} was revoked.',
    action: 'Choose another token.',
  },
  ingress_token_invalid: {
    status: 401,
    domain: ingressDomain,
    detail: 'The token does not open this.',
    action: 'Send Authorization: Bearer with the token of this source or agent; an operator can rotate it.',
  },
  invalid_source_id: {
    status: 400,
    domain: ingressDomain,
    detail: 'The path names no source id.',
    action: 'A source id has 1 to 128 letters, digits, dots, underscores and dashes.',
  },
  upload_invalid: {
    status: 400,
    domain: ingressDomain,
    detail: 'The upload is not taken: {reason}.',
    action: 'Nothing was stored. Correct it and send it again.',
  },
  upload_base64_invalid: {
    status: 400,
    domain: ingressDomain,
    detail: 'The content of the upload is no base64.',
    action: 'Encode the bytes of the file as in RFC 4648, with padding.',
  },
  upload_type_unsupported: {
    status: 400,
    domain: ingressDomain,
    detail: 'The file is none of the kinds that its source sends.',
    action: 'Send PNG or JPEG as a screen or camera, WAV or WebM as a microphone.',
  },
  upload_too_large: {
    status: 413,
    domain: ingressDomain,
    detail: 'The file has more than 12 MiB.',
    action: 'Send a smaller one.',
  },
  upload_key_conflict: {
    status: 400,
    domain: ingressDomain,
    detail: 'The source sent something else under this key before.',
    action: 'Give another upload another key.',
  },
  rate_limited: {
    status: 429,
    domain: ingressDomain,
    detail: 'There is no room for another upload now: retry_after_ms={retry_after_ms}',
    action: 'Wait so long and send it again with the same key.',
  },
  materialization_not_allowed: {
    status: 400,
    domain: 'observations',
    detail: 'Observations of source {source_id} are not given to runs: {reason}.',
    action:
      'Choose another source, set its allow_materialization, or provision the machine anew if its agent was revoked.',
  },
  materialization_empty: {
    status: 400,
    domain: 'observations',
    detail: 'Nothing that is selected is there.',
    action: 'Select something else, or wait until its source has sent something.',
  },
})
