import { definePlugin } from '../../../core/plugin.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { ToolRegistry } from '../../execution/tools/contract.js'
import { permissionRoutes } from './routes.js'

export default definePlugin({
  id: 'permissions',
  version: '1.0.0',
  api: 1,
  summary: 'Explains whether tools may run, without running them.',
  needs: { tools: ToolRegistry },
  wants: { sessions: Sessions },
  register(ctx, { tools, sessions }) {
    const sessionExists = (session_id: string): boolean => sessions()?.find(session_id) !== undefined
    ctx.routes(...permissionRoutes({ registry: tools, sessionExists }))
  },
})
