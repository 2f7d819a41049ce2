import { Host, definePlugin, object, trusted } from '../../../core/plugin.js'
import type { JsonObject } from '../../../core/plugin.js'
import { Models } from '../../execution/models/contract.js'
import { ToolRegistry } from '../../execution/tools/contract.js'
import { StatusSections } from '../status/contract.js'
import { RuntimeSettingsView } from './contract.js'
import { runtimeRoutes } from './routes.js'
import { collectSettings } from './settings.js'

export default definePlugin({
  id: 'runtime',
  version: '1.0.0',
  api: 1,
  summary: 'How the daemon is set up, for operators.',
  needs: { models: Models, tools: ToolRegistry, host: Host },
  config: object({}),
  register(ctx, parts) {
    const settings = () => collectSettings(parts)
    ctx.routes(...runtimeRoutes(settings))
    ctx.contribute(StatusSections, { name: 'runtime', schema: RuntimeSettingsView, collect: () => trusted<JsonObject>(settings()) })
  },
})
