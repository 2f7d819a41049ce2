import { defineErrors } from '../../../../core/plugin.js'

/** Problems of projects. */
export const projectErrors = defineErrors({
  project_not_found: {
    status: 404,
    domain: 'projects',
    detail: 'There is no project {project_id}.',
    action: 'List those that there are with GET /v1/projects.',
  },
  project_exists: {
    status: 409,
    domain: 'projects',
    detail: 'There is or was a project {project_id}: an id is used once.',
    action: 'Take another id (project_id, on the command line --id), or leave it out to get one.',
  },
  project_in_use: {
    status: 409,
    domain: 'projects',
    detail: 'The project {project_id} cannot be deleted: it has {tasks}.',
    action:
      'Delete its tasks first: holdfast projects tasks list {project_id}. Or archive it: ' +
      'holdfast projects update --status archived {project_id}',
  },
  project_not_active: {
    status: 400,
    domain: 'projects',
    detail: 'The project {project_id} is {status} and takes no new work.',
    action: 'Set its status to active: holdfast projects update --status active {project_id}',
  },
  project_invalid_request: {
    status: 400,
    domain: 'projects',
    detail: 'This cannot be done in the project: {reason}',
    action: 'Correct what is named.',
  },
  project_limit: {
    status: 400,
    domain: 'projects',
    detail: 'The project {project_id} would have too many {what}: {limit} at most.',
    action: 'Take some out first, or make another project.',
  },
  project_member_not_found: {
    status: 404,
    domain: 'projects',
    detail: 'The project {project_id} has no member {member_id}.',
    action: 'List its members with GET /v1/projects/{project_id}/members.',
  },
  project_member_in_use: {
    status: 409,
    domain: 'projects',
    detail: 'The member {member_id} owns the task {project_task_id}, which is not done.',
    action:
      'End the task, or assign it to another member first: ' +
      'holdfast projects tasks update --assignee MEMBER_ID {project_id} {project_task_id}',
  },
  project_session_twice: {
    status: 400,
    domain: 'projects',
    detail: 'The session {session_id} is in the project as the member {member_id} already.',
    action: 'Change that member, or take it out first.',
  },
  project_link_not_found: {
    status: 404,
    domain: 'projects',
    detail: 'The project {project_id} does not link the channel {channel_id}.',
    action: 'List what it links with GET /v1/projects/{project_id}/channels.',
  },
  project_link_in_use: {
    status: 409,
    domain: 'projects',
    detail: 'The task {project_task_id}, which is not done, is discussed in the channel {channel_id}.',
    action:
      'End the task, or take its discussion away first (clear_discussion): ' +
      'holdfast projects tasks update --clear-thread {project_id} {project_task_id}',
  },
  project_channel_not_linked: {
    status: 400,
    domain: 'projects',
    detail: 'The project {project_id} does not link the channel {channel_id}.',
    action: 'Link it first: holdfast projects channels link {project_id} {channel_id}',
  },
})
