import { defineErrors } from '../../../core/plugin.js'

/** Problems of derivations. */
export const derivationErrors = defineErrors({
  derivation_not_found: {
    status: 404,
    domain: 'derivations',
    detail: 'There is no derivation {derivation_id}.',
    action: 'List them with GET /v1/derivations.',
  },
  derivation_invalid: {
    status: 400,
    domain: 'derivations',
    detail: 'The derivation cannot be made as it is wished: {reason}.',
    action: 'Nothing was recorded. See errors for what to change.',
  },
  derivation_subject_not_found: {
    status: 404,
    domain: 'derivations',
    detail: 'The subject is not there. {reason}',
    action: 'Nothing was recorded. Name another one.',
  },
  derivation_subject_refused: {
    status: 400,
    domain: 'derivations',
    detail: 'Nothing may be derived of the subject. {reason}',
    action: 'Nothing was recorded. Choose another one, or let its plugin allow it.',
  },
  visual_preview_unsupported: {
    status: 400,
    domain: 'derivations',
    detail: 'There is no picture of {subject}.',
    action: 'Only pictures, and files that have a preview, have one: see preview_image_uri of the asset.',
  },
  session_input_not_found: {
    status: 404,
    domain: 'derivations',
    detail: 'Entry {offset} of session {session_id} is not what a run was told.',
    action: 'Give the seq of an entry accepted, as GET /v1/sessions/{session_id}/events has it.',
  },
  transcription_unavailable: {
    status: 400,
    domain: 'derivations',
    detail: 'Nobody here writes down speech: {reason}.',
    action: 'Give a model route transcription = true; it counts at once.',
  },
  transcription_audio_invalid: {
    status: 400,
    domain: 'derivations',
    detail: 'The sound of asset {asset_id} cannot be written down: {reason}.',
    action: 'Nothing was recorded. Store the sound again, in another form if that is what is wrong.',
  },
  transcription_failed: {
    status: 502,
    domain: 'derivations',
    detail: 'The speech of asset {asset_id} was not written down. {reason}',
    action: 'It is recorded as failed. Mend the route, then send the request again with retry_failed=true.',
  },
  transcription_silent: {
    status: 400,
    domain: 'derivations',
    detail: 'No speech was heard in asset {asset_id}.',
    action:
      'It is recorded as failed. Name sound in which somebody speaks; if somebody does, retry_failed=true asks again.',
  },
  transcription_unready: {
    status: 503,
    domain: 'derivations',
    detail: 'The speech of asset {asset_id} is not written down now. {reason}',
    action: 'Nothing was recorded. Send the request again later.',
  },
})
