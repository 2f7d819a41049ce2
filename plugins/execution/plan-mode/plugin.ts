import { SystemSections } from '../models/contract.js'
import { definePlugin } from '../../../core/plugin.js'
import { SessionMetadata } from '../sessions/contract.js'
import { Tasks } from '../tasks/contract.js'
import { SessionModes, ToolRegistry, Tools } from '../tools/contract.js'
import { declareStore } from './store.js'
import { agenda, planTools } from './tools.js'

const rules =
  'Plan mode is on. Look at what is there, ask if something is unclear, and change nothing: tools that change ' +
  'something are refused. When the plan is complete, call exit_plan_mode with all of it; a person approves it ' +
  'before anything is done.'

export default definePlugin({
  id: 'plan-mode',
  version: '1.0.0',
  api: 1,
  summary: 'Sessions that plan before they act: nothing is changed until a person approves the plan.',
  needs: { tasks: Tasks, tools: ToolRegistry },
  register(ctx, { tasks, tools }) {
    const store = declareStore(ctx.state)
    ctx.contribute(SessionModes, {
      id: 'plan-mode',
      mode: (session_id) => (store.planning(session_id) ? 'plan' : undefined),
      rules: () => [],
    })
    ctx.contribute(
      Tools,
      ...planTools({ store, tasks, clock: ctx.clock, ids: ctx.ids, daemonMode: () => tools.permission_mode }),
    )
    ctx.contribute(SystemSections, {
      id: 'plan_mode',
      rank: 30,
      text: ({ session_id }) => (store.planning(session_id) ? rules : undefined),
    })
    ctx.contribute(SessionMetadata, {
      key: 'session_control_state',
      value: (session_id) => {
        const known = store.find(session_id)
        const { todos, tasks: open } = agenda({ tasks }, session_id)
        if (known === undefined && todos.length + open.length === 0) return undefined
        const { session_id: _, ...state } = known ?? { session_id, plan_mode: false }
        return { ...state, todos, tasks: open }
      },
    })
  },
})
