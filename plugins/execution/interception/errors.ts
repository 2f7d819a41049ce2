import { defineErrors } from '../../../core/plugin.js'

/** Problems of what an interceptor stopped. */
export const interceptionErrors = defineErrors({
  hook_blocked: {
    status: 403,
    domain: 'hooks',
    detail: 'The hook {hook} refused this: {reason}',
    action: 'Do what the reason says, or change the hook with POST /v1/runtime/hooks.',
  },
})
