import { definePlugin, object } from '../../../core/plugin.js'
import { Outbox } from '../deliveries/contract.js'
import { SystemSections } from '../models/contract.js'
import { Runs } from '../runs/contract.js'
import { Sessions } from '../sessions/contract.js'
import { ToolGates, Tools } from '../tools/contract.js'
import { contactGate } from './gate.js'
import { contactRoutes } from './routes.js'
import { contactSection } from './section.js'
import { notifyOperator } from './tools.js'

export default definePlugin({
  id: 'operator-contact',
  version: '1.0.0',
  api: 1,
  summary: 'Where the outputs of a session go, and whether and how its model may contact the operator.',
  needs: { sessions: Sessions, runs: Runs },
  wants: { outbox: Outbox },
  config: object({}),
  register(ctx, { sessions, runs, outbox }) {
    ctx.routes(...contactRoutes({ sessions, outbox }))
    ctx.contribute(Tools, notifyOperator({ sessions, outbox, runs }))
    ctx.contribute(ToolGates, contactGate(sessions))
    ctx.contribute(SystemSections, contactSection(sessions))
  },
})
