import { defineErrors } from '../../../../core/plugin.js'

const clear = 'holdfast projects tasks update --clear-blocked-by {project_id}'
const rest = 'or with --blocked-by for each that it still waits for.'

/** Problems of the tasks of projects. */
export const projectTaskErrors = defineErrors({
  project_task_not_found: {
    status: 404,
    domain: 'projects',
    detail: 'The project {project_id} has no task {project_task_id}.',
    action: 'List its tasks with GET /v1/projects/{project_id}/tasks.',
  },
  project_task_exists: {
    status: 409,
    domain: 'projects',
    detail: 'The project {project_id} has a task {project_task_id} already.',
    action: 'Take another id (project_task_id, on the command line --id), or leave it out to get one.',
  },
  project_task_in_use: {
    status: 409,
    domain: 'projects',
    detail: 'The task {project_task_id} cannot be deleted: the task {dependent} is blocked by it.',
    action: `Take it out of blocked_by of that task first: ${clear} {dependent}, ${rest}`,
  },
  project_task_assignee_invalid: {
    status: 400,
    domain: 'projects',
    detail: 'The member {member_id} has no session: it cannot do a task.',
    action: 'Assign the task to a member of kind session.',
  },
  project_task_self_dependency: {
    status: 400,
    domain: 'projects',
    detail: 'The task {project_task_id} cannot be blocked by itself.',
    action: 'Leave it out of blocked_by.',
  },
  project_task_dependency_cycle: {
    status: 400,
    domain: 'projects',
    detail: 'The task {project_task_id} would wait for itself: {through} waits for it.',
    action: `Leave that task out of blocked_by, or take this one from the other: ${clear} {through}, ${rest}`,
  },
  project_task_run_invalid: {
    status: 400,
    domain: 'projects',
    detail: 'The run {run_id} cannot be the latest run of the task: {reason}',
    action: 'Name a run of the session of the assignee that has ended.',
  },
  project_task_run_active: {
    status: 400,
    domain: 'projects',
    detail: 'The run {run_id} of the task has not ended.',
    action: 'Wait for its end, or cancel it with POST /v1/runs/{run_id}/cancel.',
  },
  project_task_output_derived: {
    status: 400,
    domain: 'projects',
    detail: 'The output of the task is that of its run {run_id}.',
    action: 'Leave output and clear_output out (--result, --clear-result), or name another latest_run_id (--run).',
  },
  project_task_terminal: {
    status: 400,
    domain: 'projects',
    detail: 'The task {project_task_id} is {status}.',
    action:
      'Open it again first, by the status pending: ' +
      'holdfast projects tasks update --status pending {project_id} {project_task_id}',
  },
  project_task_waits: {
    status: 400,
    domain: 'projects',
    detail: 'The task {project_task_id} is blocked by {blocked_by}, which is not completed.',
    action: `Complete that task first, or take it out of blocked_by: ${clear} {project_task_id}, ${rest}`,
  },
  project_task_not_assigned: {
    status: 400,
    domain: 'projects',
    detail: 'The task {project_task_id} is assigned to nobody.',
    action:
      'Assign it to a member of kind session first: ' +
      'holdfast projects tasks update --assignee MEMBER_ID {project_id} {project_task_id}',
  },
  project_task_changed: {
    status: 400,
    domain: 'projects',
    detail: 'The task {project_task_id} was changed while it was started.',
    action: 'Look at it, and start it again.',
  },
  project_control_taken: {
    status: 409,
    domain: 'projects',
    detail: 'In the channel {channel_id} somebody else is the member project-control, in whose name tasks begin.',
    action:
      'Take that member out, and start the task again: ' +
      'holdfast channels members remove {channel_id} project-control',
  },
  project_task_of_another: {
    status: 409,
    domain: 'projects',
    detail: 'The task {project_task_id} is assigned to the member {member_id}.',
    action: 'Take a task that is assigned to nobody, or to you.',
  },
})
