import { Host, definePlugin } from '../../../core/plugin.js'
import { Sessions } from '../sessions/contract.js'
import { SessionModes, ToolRegistry, Tools } from './contract.js'
import { ToolsConfig } from './config.js'
import { createRegistry } from './registry.js'
import { permissionRoutes } from './routes.js'

export default definePlugin({
  id: 'tools',
  version: '1.0.0',
  api: 1,
  summary: 'The tools that models may call, and the rules that decide whether they may.',
  needs: { host: Host },
  wants: { sessions: Sessions, modes: SessionModes },
  provides: [ToolRegistry],
  config: ToolsConfig,
  flags: { permission_mode: 'permission-mode' },
  register(ctx, { host, sessions, modes }) {
    const registry = createRegistry({
      config: ctx.config,
      workspace: host.workspaceRoot,
      tools: ctx.view(Tools),
      modes,
    })
    ctx.provide(ToolRegistry, registry)
    ctx.routes(...permissionRoutes(registry, (session_id) => sessions()?.find(session_id) !== undefined))
  },
})
