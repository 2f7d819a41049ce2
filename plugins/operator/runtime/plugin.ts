import { Host, definePlugin, object } from '../../../core/plugin.js'
import { Models } from '../../execution/models/contract.js'
import { ToolRegistry } from '../../execution/tools/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { StatusSections } from '../status/contract.js'
import { RuntimeSections, runtimeSettingsView } from './contract.js'
import { permissionRoute } from './permission-check.js'
import { runtimeRoutes } from './routes.js'
import { collectSections, collectSettings } from './settings.js'

export default definePlugin({
  id: 'runtime',
  version: '1.0.0',
  api: 1,
  summary: 'How the daemon is set up, for operators.',
  needs: { models: Models, tools: ToolRegistry, host: Host },
  wants: { sessions: Sessions },
  config: object({}),
  register(ctx, { sessions, ...parts }) {
    const sections = ctx.view(RuntimeSections)
    const schema = runtimeSettingsView(sections)
    const settings = () => collectSettings(parts)
    // Members of sections go before our own, so that no section takes the name of one.
    const collect = () => ({ ...collectSections(sections(), ctx.log), ...settings() })
    ctx.routes(
      ...runtimeRoutes({ schema, collect, settings }),
      permissionRoute(parts.tools, (session_id) => sessions()?.find(session_id) !== undefined),
    )
    ctx.contribute(StatusSections, { name: 'runtime', schema, collect })
  },
})
