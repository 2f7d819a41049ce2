import { defineErrors } from '../../../core/plugin.js'

/** Why a connection cannot work as configured; shown as the readiness of its route. */
export const linkErrors = defineErrors({
  base_url_missing: {
    status: 400,
    detail: 'The provider {provider} needs the address of its server.',
    action: 'Give its address where the route is configured, such as http://127.0.0.1:11434/v1.',
  },
  base_url_invalid: {
    status: 400,
    detail: 'The base URL of the provider cannot be used: {reason}.',
    action: 'Give an http or https URL without user, query and fragment, such as https://api.openai.com/v1.',
  },
  api_key_invalid: {
    status: 400,
    detail: 'The key of the provider has characters that a header cannot carry.',
    action: 'Give the key alone, without quotes or line breaks.',
  },
})

/** Answers that are none: repeating the question would bring the same, but for one that others had no room beside. */
export const answerErrors = defineErrors({
  provider_redirected: {
    status: 502,
    detail: 'The provider answered with a redirect (status {status}), which is not followed.',
  },
  provider_not_streaming: {
    status: 502,
    detail: 'The provider answered with {what} and no event stream; the base URL may lack its path, such as /v1.',
  },
  provider_compressed: {
    status: 502,
    detail: 'The provider compressed its answer ({encoding}), which was not asked for and is not understood.',
  },
  provider_answer_too_large: { status: 502, detail: 'The answer of the provider is larger than 32 MiB.' },
  provider_answers_too_large: {
    status: 503,
    detail:
      'The answers of the provider that are under way are larger than 512 MiB together, and this one is the largest.',
  },
})
