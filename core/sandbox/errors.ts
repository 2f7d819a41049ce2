import { defineErrors } from '../base/errors.js'

export const sandboxErrors = defineErrors({
  sandbox_busy: {
    status: 503,
    domain: 'sandbox',
    detail: 'Too many files wait to be looked at.',
    action: 'Try again in a few seconds.',
  },
  sandbox_not_begun: {
    status: 503,
    domain: 'sandbox',
    detail: 'The process that looks at files did not begin. Nothing is known of the file.',
    action: 'The log says why. Correct that, and try again.',
  },
})
