import { definePlugin } from '../../../core/plugin.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { ToolRegistry } from '../../execution/tools/contract.js'
import { permissionRoute } from './routes.js'

export default definePlugin({
  id: 'permissions',
  version: '1.0.0',
  api: 1,
  summary: 'Explains whether a tool may run, without running it.',
  needs: { tools: ToolRegistry },
  wants: { sessions: Sessions },
  register(ctx, { tools, sessions }) {
    ctx.routes(permissionRoute(tools, (session_id) => sessions()?.find(session_id) !== undefined))
  },
})
