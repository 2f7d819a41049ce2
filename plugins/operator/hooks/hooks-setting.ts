/** The hooks in force, as operators set them. */
import { commandLine, object, optional, unsafeCast, type JsonObject, type Problem } from '../../../core/plugin.js'
import { defineSetting } from '../runtime/contract.js'
import { checkHooks, checkMatchers, HookMap, type CheckParts } from './definitions.js'
import { hookErrors } from './errors.js'
import { shownHooks } from './shown.js'

const bodyFault = (rule: string): Problem =>
  hookErrors.invalid_hook_settings({ details: { reason: `the body ${rule}.` }, errors: [{ path: 'body', rule }] })

export const hooksSetting = (configured: () => HookMap, parts: CheckParts) =>
  defineSetting({
    name: 'hooks',
    secret: true,
    emptiedBy: commandLine('runtime hooks set --reset'),
    schema: HookMap,
    initial: configured,
    // A kept hook whose callback is gone fails when it is asked: the others must hold.
    check(hooks) {
      checkHooks(hooks, { allow_cidrs: parts.allow_cidrs })
    },
    shown: { fields: { hooks: HookMap }, of: (hooks) => ({ hooks: unsafeCast<JsonObject>(shownHooks(hooks)) }) },
    change: {
      path: 'hooks',
      summary: 'Sets all hooks: `{"settings":{"hooks":{…}}}`, or `{"hooks":{…}}`.',
      fields: { settings: optional(object({ hooks: HookMap })), hooks: optional(HookMap) },
      value({ settings, hooks }) {
        const wanted = settings?.hooks ?? hooks
        if (wanted === undefined || (settings !== undefined && hooks !== undefined))
          throw bodyFault(wanted === undefined ? 'has neither settings nor hooks' : 'has both settings and hooks')
        checkHooks(wanted, parts)
        checkMatchers(wanted)
        return wanted
      },
      invalid: hookErrors.invalid_hook_settings,
      example: { settings: { hooks: {} } },
    },
  })
