/** The hooks in force, as operators set them. */
import { object, optional, unsafeCast, type JsonObject } from '../../../core/plugin.js'
import { defineSetting } from '../runtime/contract.js'
import { checkHooks, HookMap, shownHooks, type CheckParts } from './definitions.js'
import { hookErrors } from './errors.js'

export const hooksSetting = (configured: HookMap, parts: CheckParts) =>
  defineSetting({
    name: 'hooks',
    schema: HookMap,
    initial: (): HookMap => configured,
    check: (hooks) => checkHooks(hooks, parts),
    shown: { fields: { hooks: HookMap }, of: (hooks) => ({ hooks: unsafeCast<JsonObject>(shownHooks(hooks)) }) },
    change: {
      path: 'hooks',
      summary: 'Sets all hooks: `{"settings":{"hooks":{…}}}`, or `{"hooks":{…}}`.',
      fields: { settings: optional(object({ hooks: HookMap })), hooks: optional(HookMap) },
      value({ settings, hooks }) {
        const wanted = settings?.hooks ?? hooks
        if (wanted === undefined)
          throw hookErrors.invalid_hook_settings({ details: { reason: 'the body has neither settings nor hooks.' } })
        return wanted
      },
      invalid: hookErrors.invalid_hook_settings,
      example: { settings: { hooks: {} } },
    },
  })
