import { defineErrors } from '../base/errors.js'

export const sandboxErrors = defineErrors({
  sandbox_busy: {
    status: 503,
    domain: 'sandbox',
    detail: 'Too many files wait to be looked at.',
    action: 'Try again in a few seconds.',
  },
})
