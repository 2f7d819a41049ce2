import { Host, definePlugin, defineRoute, jsonReply } from '../../../core/plugin.js'
import { Settings, RuntimeSettings } from '../../operator/runtime/contract.js'
import { CallGrants, SessionModes, ToolArrivals, ToolGates, ToolRegistry, Tools } from './contract.js'
import { ToolLimitsView, ToolsConfig } from './config.js'
import { createRuleFitting } from './fitting.js'
import { createMissing } from './missing.js'
import { createRegistry } from './registry.js'
import { createToolView } from './visibility.js'
import { permissionModeSetting, toolLimitsSetting } from './settings.js'

export default definePlugin({
  id: 'tools',
  version: '1.0.0',
  api: 1,
  summary: 'The tools that models may call, and the rules that decide whether they may.',
  needs: { host: Host, settings: Settings },
  provides: [ToolRegistry],
  config: ToolsConfig,
  flags: { permission_mode: 'permission-mode' },
  register(ctx, { host, settings }) {
    const [mode, limits] = [permissionModeSetting(ctx.config), toolLimitsSetting(ctx.config)]
    const arrivals = ctx.view(ToolArrivals)
    const pluginOf = (id: string): string | undefined => host.contributor(ToolArrivals, id)
    const missing = createMissing({ arrivals, clock: ctx.clock, pluginOf })
    const registry = createRegistry({
      config: ctx.config,
      permissionMode: () => settings.get(mode),
      limits: () => settings.get(limits),
      workspace: host.workspaceRoot,
      tools: createToolView({ tools: ctx.view(Tools), gates: ctx.view(ToolGates), log: ctx.log }),
      arrivals,
      missing: missing.of,
      modes: ctx.view(SessionModes),
      grants: ctx.view(CallGrants),
    })
    ctx.provide(ToolRegistry, registry)
    ctx.contribute(RuntimeSettings, mode, limits)
    ctx.health({ id: 'tools', check: createRuleFitting(ctx.config.permission_rules, registry) })
    ctx.health(missing.health)
    ctx.routes(
      defineRoute({
        id: 'runtime.tool_limits',
        method: 'GET',
        path: '/v1/runtime/tool-limits',
        summary: 'The limits of tool calls.',
        access: 'read',
        reply: jsonReply(ToolLimitsView),
        handler: () => ({ ...registry.limits() }),
      }),
    )
  },
})
