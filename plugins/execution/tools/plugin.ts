import { Host, definePlugin } from '../../../core/plugin.js'
import { SessionModes, ToolRegistry, Tools } from './contract.js'
import { ToolsConfig } from './config.js'
import { createRegistry } from './registry.js'

export default definePlugin({
  id: 'tools',
  version: '1.0.0',
  api: 1,
  summary: 'The tools that models may call, and the rules that decide whether they may.',
  needs: { host: Host },
  wants: { modes: SessionModes },
  provides: [ToolRegistry],
  config: ToolsConfig,
  flags: { permission_mode: 'permission-mode' },
  register(ctx, { host, modes }) {
    const registry = createRegistry({
      config: ctx.config,
      workspace: host.workspaceRoot,
      tools: ctx.view(Tools),
      modes,
    })
    ctx.provide(ToolRegistry, registry)
  },
})
