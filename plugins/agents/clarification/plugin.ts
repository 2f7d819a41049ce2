import { definePlugin } from '../../../core/plugin.js'
import { QuestionSettlers } from '../../execution/questions/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { SessionEndGuards, SessionHolds, SessionMemberships, Sessions } from '../../execution/sessions/contract.js'
import { Tools } from '../../execution/tools/contract.js'
import { Reasons } from '../../operator/explanations/contract.js'
import { Mailboxes } from '../mailboxes/contract.js'
import { AgentAudit, AgentQuestions, Agents } from '../sidechains/contract.js'
import { endGuard, watchEnds } from './ending.js'
import { clarificationReasons, questionHold } from './explained.js'
import { clarificationSettler } from './settle.js'
import { declareClarifications } from './store.js'
import { clarificationTool } from './tool.js'

export default definePlugin({
  id: 'clarification',
  version: '1.0.0',
  api: 1,
  summary: 'Questions that agents ask whoever answers for the agents that started them.',
  needs: { agents: Agents, audit: AgentAudit, mailboxes: Mailboxes, runs: Runs, sessions: Sessions },
  provides: [AgentQuestions],
  register(ctx, { agents, audit, mailboxes, runs, sessions }) {
    const { clock, log, state } = ctx
    const store = declareClarifications(state)
    const parts = {
      agents,
      audit,
      clock,
      log,
      mailboxes,
      memberships: ctx.view(SessionMemberships),
      runs,
      sessions,
      state,
      store,
    }
    ctx.provide(AgentQuestions, {
      asks: (session_id) => store.collection.has(session_id),
      askedBy: store.find,
      asking: () => store.collection.ids('all', 'all'),
      asked: (session_id) => store.askedOf(session_id).map(({ run_id }) => run_id),
    })
    ctx.contribute(Tools, clarificationTool(parts))
    ctx.contribute(QuestionSettlers, clarificationSettler(parts))
    ctx.contribute(Reasons, clarificationReasons(parts))
    ctx.contribute(SessionEndGuards, endGuard(parts))
    ctx.contribute(SessionHolds, questionHold(parts))
    ctx.onStart(() => watchEnds(parts))
  },
})
