import { defineErrors } from '../../../core/plugin.js'

const look = 'List the tasks of the session.'

/** What a caller or a model can correct about tasks and to-do lists. */
export const taskErrors = defineErrors({
  todo_duplicate_id: {
    status: 400,
    domain: 'tasks',
    detail: 'Two items have the id {id}.',
    action: 'Give each item an id of its own, or none.',
  },
  task_not_found: { status: 404, domain: 'tasks', detail: 'There is no task {task_id} in this session.', action: look },
  task_title_taken: {
    status: 409,
    domain: 'tasks',
    detail: 'The open task {task_id} has this title.',
    action: 'Use that task, or choose another title.',
  },
  task_dependency_not_found: {
    status: 400,
    domain: 'tasks',
    detail: 'The dependency {task_id} is no task of this session.',
    action: look,
  },
  task_self_dependency: {
    status: 400,
    domain: 'tasks',
    detail: 'Task {task_id} cannot depend on itself.',
    action: 'Leave its own id out.',
  },
  task_dependency_cycle: {
    status: 400,
    domain: 'tasks',
    detail: 'Task {task_id} would wait for itself through others.',
    action: 'Remove one of the dependencies of the cycle.',
  },
  task_dependency_limit: {
    status: 400,
    domain: 'tasks',
    detail: 'Task {task_id} would have more than {limit} dependencies in one direction.',
    action: 'Group the work into fewer tasks.',
  },
  task_metadata_reserved: {
    status: 400,
    domain: 'tasks',
    detail: 'The metadata key {key} belongs to the daemon.',
    action: 'Choose another key.',
  },
  task_metadata_too_large: {
    status: 400,
    domain: 'tasks',
    detail: 'The metadata would have more than {limit} bytes.',
    action: 'Keep less, or remove keys first.',
  },
  task_limit_reached: {
    status: 409,
    domain: 'tasks',
    detail: 'The session has {limit} open tasks, which is the most.',
    action: 'Finish, stop or delete some first.',
  },
  task_session_ended: {
    status: 409,
    domain: 'tasks',
    detail: 'Session {session_id} was ended.',
    action: 'Create it again under its id.',
  },
  task_driven: {
    status: 409,
    domain: 'tasks',
    detail: 'The daemon runs task {task_id} and sets its {field} itself.',
    action: 'Stop it with task_stop, or wait for its end.',
  },
  task_in_progress: {
    status: 409,
    domain: 'tasks',
    detail: 'What task {task_id} started is still running.',
    action: 'Stop it first.',
  },
})
