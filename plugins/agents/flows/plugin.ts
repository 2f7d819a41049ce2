import { createUnreadable, defaulted, definePlugin, doc, integer, object } from '../../../core/plugin.js'
import { Runs, RunWorkspaces } from '../../execution/runs/contract.js'
import { SchedulePayloads } from '../../execution/schedules/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { Tasks } from '../../execution/tasks/contract.js'
import { ToolRegistry } from '../../execution/tools/contract.js'
import { Reasons, Subjects } from '../../operator/explanations/contract.js'
import { Capabilities } from '../../operator/status/contract.js'
import { Mailboxes } from '../mailboxes/contract.js'
import { Playbooks } from '../playbooks/contract.js'
import { AgentMail, AgentQuestions, SpawnedAgents } from '../sidechains/contract.js'
import { flowActionRoutes } from './action-routes.js'
import { createCalls } from './calls.js'
import { flowReasons, flowsHealth, flowSubjects } from './explained.js'
import { flowPayload } from './payload.js'
import { flowRoutes } from './routes.js'
import { createSettling } from './settle.js'
import { declareFlows } from './store.js'

export default definePlugin({
  id: 'flows',
  version: '1.0.0',
  api: 1,
  summary: 'Flows: work by a playbook, followed from its root run to its end.',
  needs: { playbooks: Playbooks, runs: Runs, sessions: Sessions, tools: ToolRegistry },
  wants: {
    tasks: Tasks,
    agents: SpawnedAgents,
    workspaces: RunWorkspaces,
    mailboxes: Mailboxes,
    mail: AgentMail,
    questions: AgentQuestions,
  },
  config: object({
    max_members: doc(
      defaulted(integer({ min: 1, max: 1_000_000 }), 10_000),
      'Runs, agents and tasks of one flow that are looked at; one with more is unknown.',
    ),
    max_listed: doc(
      defaulted(integer({ min: 1, max: 100_000 }), 1_000),
      'Ids of each kind that a flow lists; what is not listed counts all the same.',
    ),
  }),
  register(ctx, { playbooks, runs, sessions, tools, tasks, agents, workspaces, mailboxes, mail, questions }) {
    const { config: bounds, events, ids, log, state } = ctx
    const unreadable = createUnreadable(log, 'flows')
    const store = declareFlows(state, unreadable.skip)
    const seen = {
      playbooks,
      runs,
      sessions,
      tasks,
      agents,
      calls: createCalls(runs),
      store,
      log,
      bounds,
      events,
    }
    const settling = createSettling(seen)
    const { settle, begin } = settling
    const started = { ...seen, ids }
    ctx.routes(...flowRoutes(started))
    ctx.contribute(SchedulePayloads, flowPayload(started))
    ctx.routes(...flowActionRoutes({ ...seen, settle, tools, workspaces, mailboxes, mail, questions }))
    ctx.contribute(Subjects, flowSubjects(seen))
    ctx.contribute(Reasons, flowReasons(seen))
    ctx.contribute(Capabilities, { name: 'flows', value: true })
    ctx.health(unreadable.health)
    ctx.health(flowsHealth(settling))
    ctx.onStart(begin)
  },
})
