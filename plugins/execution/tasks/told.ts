/** New tasks, and those that are done, are told to whoever looks at these moments. */
import type { Interception, Moment } from '../interception/contract.js'
import type { SessionTask } from './contract.js'

const momentOf = (task: SessionTask, before: SessionTask | undefined): Moment | undefined => {
  if (before === undefined) return 'task_created'
  return task.status === 'completed' && before.status !== 'completed' ? 'task_completed' : undefined
}

export const tellTask = (
  interception: Interception | undefined,
  task: SessionTask,
  before: SessionTask | undefined,
): void => {
  const event = momentOf(task, before)
  if (event === undefined || interception?.wants(event) !== true) return
  const { id, title, description, status, session_id } = task
  interception.tell({ event, subject: title, session_id, payload: { task_id: id, title, description, status } })
}
