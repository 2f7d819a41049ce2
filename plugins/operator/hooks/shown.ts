/** Hooks as readers see them. */
import { assertNever, outboundTarget, unsafeCast, type JsonObject } from '../../../core/plugin.js'
import type { HookDefinition, HookMap } from './definitions.js'

const hidden = '[redacted]'

const shownParts = (executor: HookDefinition['executor']): JsonObject => {
  switch (executor.type) {
    case 'command':
      return { command: hidden, ...(executor.shell !== undefined && { shell: executor.shell }) }
    case 'http':
      return { url: `${outboundTarget(executor.url).slice('http:'.length)}/${hidden}` }
    case 'callback':
      return { name: executor.name }
    case 'prompt':
    case 'agent':
      return {
        template: hidden,
        ...(executor.system_prompt !== undefined && { system_prompt: hidden }),
        ...(executor.model !== undefined && { model: unsafeCast<JsonObject>(executor.model) }),
        ...('tool_surface' in executor &&
          executor.tool_surface !== undefined && { tool_surface: unsafeCast<JsonObject>(executor.tool_surface) }),
      }
    default:
      return assertNever(executor)
  }
}

const shownExecutor = ({ executor }: HookDefinition): JsonObject => {
  const { timeout_ms } = 'timeout_ms' in executor ? executor : {}
  return {
    type: executor.type,
    ...shownParts(executor),
    ...(timeout_ms !== undefined && { timeout_ms: Number(timeout_ms) }),
  }
}

/** The same shape without what may be secret. */
export const shownHooks = (hooks: HookMap): JsonObject =>
  Object.fromEntries(
    Object.entries(hooks).map(([event, definitions]) => [
      event,
      definitions.map((definition) => ({ ...definition, executor: shownExecutor(definition) })),
    ]),
  )
