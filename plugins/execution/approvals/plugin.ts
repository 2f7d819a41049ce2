import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { Capabilities } from '../../operator/status/contract.js'
import { Grants } from '../grants/contract.js'
import { Runs } from '../runs/contract.js'
import { Sessions } from '../sessions/contract.js'
import { ToolRegistry } from '../tools/contract.js'
import { Approvals } from './contract.js'
import { expireApprovals } from './expire.js'
import { resolveApprovals } from './resolve.js'
import { approvalRoutes } from './routes.js'

export default definePlugin({
  id: 'approvals',
  version: '1.0.0',
  api: 1,
  summary: 'Decisions of people on tool calls that need permission.',
  needs: { grants: Grants, runs: Runs, sessions: Sessions, tools: ToolRegistry },
  provides: [Approvals],
  config: object({}),
  register(ctx, parts) {
    const unreadable = createUnreadable(ctx.log, 'approval requests')
    ctx.routes(...approvalRoutes({ ...parts, clock: ctx.clock, skip: unreadable.skip }))
    ctx.health(unreadable.health)
    ctx.provide(Approvals, {
      resolve: async (run_id, decisions) =>
        resolveApprovals({ ...parts, clock: ctx.clock }, parts.runs.get(run_id), {
          ...decisions,
          decided_by: 'operator',
        }),
    })
    ctx.onStart(() => parts.runs.onDue('waiting_for_approval', (run) => expireApprovals(parts.runs, run)))
    ctx.contribute(Capabilities, { name: 'approvals', value: true })
  },
})
