import { defaulted, definePlugin, doc, object } from '../../../core/plugin.js'
import { SessionAgents, SessionEndGuards, Sessions } from '../sessions/contract.js'
import { CallGrants, grantText, ToolRegistry } from '../tools/contract.js'
import { Grants, GrantSpan } from './contract.js'
import { grantRoutes } from './routes.js'
import { createGrants } from './service.js'
import { declareGrants } from './store.js'

export default definePlugin({
  id: 'grants',
  version: '1.0.0',
  api: 1,
  summary: 'Approvals that are remembered, until they expire or are revoked.',
  needs: { sessions: Sessions, tools: ToolRegistry },
  wants: { agents: SessionAgents },
  provides: [Grants],
  config: object({
    expires_after_ms: doc(
      defaulted(GrantSpan, 86_400_000),
      'How long a remembered approval holds unless it says otherwise, milliseconds.',
    ),
  }),
  register(ctx, { sessions, tools, agents }) {
    const { clock, ids, state } = ctx
    const store = declareGrants(state)
    const grants = createGrants({ store, tools, ids, expires_after_ms: ctx.config.expires_after_ms })
    ctx.provide(Grants, grants)
    ctx.routes(...grantRoutes({ store, grants, sessions, tools, state, clock }))
    ctx.contribute(CallGrants, {
      id: 'grants',
      find(call) {
        // What others were allowed with a path or a command is another thing in a folder of its own.
        const isApart = agents()?.folder(call.session_id) !== undefined
        const grant = store.covering(clock.now(), { ...call, isApart })
        return grant && { grant_id: grant.grant_id, text: grantText(grant.tool_name, grant.rule) }
      },
    })
    ctx.contribute(SessionEndGuards, { id: 'grants', veto: () => undefined, ended: store.end })
  },
})
