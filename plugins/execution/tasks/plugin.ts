import { createUnreadable, defaulted, definePlugin, doc, integer, object } from '../../../core/plugin.js'
import { Mailboxes } from '../../agents/mailboxes/contract.js'
import { Agents } from '../../agents/sidechains/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { Interception } from '../interception/contract.js'
import { Sessions } from '../sessions/contract.js'
import { Tools } from '../tools/contract.js'
import { TaskRunners, Tasks, type SessionTask } from './contract.js'
import { taskRepair } from './repair.js'
import { taskRoutes } from './routes.js'
import { createTasks } from './service.js'
import { watchSessionEnds } from './session-end.js'
import { tasksSection } from './status.js'
import { declareStore } from './store.js'
import { tellTask } from './told.js'
import { todoWriteTool } from './todo-write.js'
import { taskTools } from './tools.js'
import { createWaits } from './waits.js'

export default definePlugin({
  id: 'tasks',
  version: '1.0.0',
  api: 1,
  summary: 'What a session has to do, and what runs behind it.',
  needs: { sessions: Sessions },
  wants: { interception: Interception, agents: Agents, mailboxes: Mailboxes },
  provides: [Tasks],
  config: object({
    max_open_tasks: doc(
      defaulted(integer({ min: 1, max: 100_000 }), 500),
      'Tasks of one session that have not ended, at most.',
    ),
  }),
  register(ctx, { sessions, interception, agents, mailboxes }) {
    const { state, clock, ids, config } = ctx
    const listeners = new Set<(task: SessionTask) => void>()
    const waits = createWaits(clock, ctx.signal)
    const store = declareStore(state, {
      ended: waits.ended,
      changed(task, before) {
        tellTask(interception(), task, before)
        for (const listener of listeners) listener(task)
      },
    })
    const parts = {
      state,
      store,
      agents,
      mailboxes,
      waits,
      sessions,
      clock,
      ids,
      runners: ctx.view(TaskRunners),
      max_open: config.max_open_tasks,
    }
    const onChanged: Tasks['onChanged'] = (listener) => (listeners.add(listener), () => void listeners.delete(listener))
    ctx.provide(Tasks, createTasks(store, sessions, onChanged))
    const unreadable = createUnreadable(ctx.log, 'tasks')
    ctx.routes(...taskRoutes({ ...parts, skip: unreadable.skip }))
    ctx.health(unreadable.health)
    ctx.contribute(Tools, todoWriteTool(store.todoLists), ...taskTools(parts))
    ctx.contribute(StatusSections, tasksSection(store))
    ctx.repair(taskRepair(state, store))
    ctx.onStart(() => watchSessionEnds({ ...parts, events: ctx.events, log: ctx.log }))
  },
})
