/** Projects: who works together, in which channels, on which tasks. Rules: docs/rules/projects.md. */

/** Problems of projects, for routes of other plugins. */
export { projectErrors } from './record/errors.js'
/** Problems of the tasks of projects. */
export { projectTaskErrors } from './record/task-errors.js'
/** What projects and tasks may be, and who is a member. */
export { projectMemberKinds, projectStatuses, projectTaskStatuses } from './record/record.js'
/** Projects as they are shown. */
export { Project, ProjectLink, ProjectMember, ProjectTask } from './record/views.js'
