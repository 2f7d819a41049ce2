/** The tasks service, for the plugins that run or show tasks. */
import type { JsonObject } from '../../../core/plugin.js'
import type { Sessions } from '../sessions/contract.js'
import type { Tasks } from './contract.js'
import { taskErrors } from './errors.js'
import { hasEnded, viewTask, type TaskStore } from './store.js'

/** What was kept and what is new; null takes a member away. */
const merged = (before: Readonly<JsonObject>, news: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries({ ...before, ...news }).filter(([, value]) => value !== null))

export const createTasks = (store: TaskStore, sessions: Sessions, onChanged: Tasks['onChanged']): Tasks => ({
  onChanged,
  madeIn: store.madeIn,
  find: store.find,
  listOpen: (of) => ('runner' in of ? store.openOf(of.runner) : store.openIn(of.session_id)),
  newest: store.newestOf,
  view: viewTask,
  todos: (session_id) => store.todoLists.find(session_id)?.todos ?? [],
  add(tx, task) {
    if (sessions.get(task.session_id).ended_at_ms !== undefined)
      throw taskErrors.task_session_ended({ details: { session_id: task.session_id } })
    const made = { ...task, status: 'in_progress' as const, created_at_ms: tx.now, updated_at_ms: tx.now }
    store.put(tx, made)
    return made
  },
  tell(tx, { session_id, id }, { status, metadata = {} }) {
    const task = store.find(session_id, id)
    if (task === undefined || hasEnded(task)) return
    store.put(tx, {
      ...task,
      ...(status !== undefined && { status }),
      metadata: merged(task.metadata ?? {}, metadata),
      updated_at_ms: Math.max(tx.now, task.updated_at_ms),
    })
  },
})
