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

/** The same, where it is no hook of an operator that did. */
export const pluginInterception = defineErrors({
  hook_blocked: {
    status: 403,
    domain: 'hooks',
    detail: 'The plugin {plugin} refused this: {reason}',
    action: 'Do what the reason says. It is the plugin {plugin} that decides this, and no hook.',
  },
})

/** The same, where nobody knows which interceptors would have to be asked. */
export const lockedInterception = defineErrors({
  hook_blocked: {
    status: 403,
    domain: 'hooks',
    detail: 'Nobody can be asked whether this may happen: {reason}',
    action: 'See the warning setting_locked in GET /v1/status: it says how to go on with the hooks, and without them.',
  },
})
