/** Ending a task on purpose: by its runner, or by a record. */
import type { State } from '../../../core/plugin.js'
import type { SessionTask, TaskRunner } from './contract.js'
import { cancelTask, getTask } from './changes.js'
import { openSet } from './graph.js'
import { hasEnded, type TaskStore } from './store.js'

export interface StopParts {
  readonly state: State
  readonly store: TaskStore
  readonly runners: () => readonly TaskRunner[]
}

export interface StopRequest {
  readonly session_id: string
  readonly task_id: string
  readonly reason: string | undefined
}

/**
 * Stops a task, which is durable when this resolves; one with a runner ends a little later. Throws `task_not_found`
 * (404).
 */
export const stopTask = async (
  { state, store, runners }: StopParts,
  { session_id, task_id, reason }: StopRequest,
): Promise<SessionTask> => {
  const find = (): SessionTask => getTask({ find: (id) => store.find(session_id, id) }, task_id)
  const task = find()
  const runner = runners().find(({ kind }) => kind === task.runner)
  if (hasEnded(task)) return task
  if (runner !== undefined) await runner.stop(task, reason)
  else
    await state.commit((tx) => {
      const set = openSet(store, session_id, tx.now)
      cancelTask(set, task_id, reason)
      for (const changed of set.changed()) store.put(tx, changed)
    })
  return find()
}
