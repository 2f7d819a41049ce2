/** What of tools operators change while the daemon runs. */
import { commandLine, doc, enums } from '../../../core/plugin.js'
import { defineSetting } from '../../operator/runtime/contract.js'
import { SomeToolLimits, ToolLimitsView, type ToolsConfig } from './config.js'
import { permissionModes, type ToolLimits } from './contract.js'
import { limitErrors } from './errors.js'

/** The daemon's permission mode; a session's own beats it. */
export const permissionModeSetting = ({ permission_mode }: ToolsConfig) =>
  defineSetting({
    name: 'permission_mode',
    schema: enums(permissionModes),
    initial: () => permission_mode,
    setBy: (mode) => commandLine('runtime set-permission-mode', mode),
    change: {
      path: 'permission-mode',
      summary: "Sets the daemon's permission mode: what becomes of tools that would ask.",
      fields: { mode: doc(enums(permissionModes), 'Holds where a session has no mode of its own.') },
      value: ({ mode }) => mode,
      example: { mode: 'acceptEdits' },
    },
  })

const nothingAsked = () =>
  limitErrors.invalid_tool_runtime_limits({
    errors: [{ path: 'body.limits', rule: 'must have a limit, as GET /v1/runtime/tool-limits names them' }],
  })

/** The limits of tool calls. */
export const toolLimitsSetting = ({ limits }: ToolsConfig) =>
  defineSetting({
    name: 'tool_runtime_limits',
    schema: ToolLimitsView,
    initial: (): ToolLimits => limits,
    change: {
      path: 'tool-limits',
      summary: 'Sets limits of tool calls; those that are left out stay as they are.',
      fields: { limits: SomeToolLimits },
      value({ limits: asked }, now) {
        if (Object.keys(asked).length === 0) throw nothingAsked()
        return Object.assign({}, now, asked)
      },
      invalid: limitErrors.invalid_tool_runtime_limits,
      example: { limits: { max_parallel_tools: 8 } },
    },
  })
