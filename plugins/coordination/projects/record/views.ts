/** Projects as they are shown; members that are empty are left out. */
import {
  array,
  doc,
  enums,
  integer,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import {
  linkFields,
  memberFields,
  projectStatuses,
  taskFields,
  type ProjectLinkRecord,
  type ProjectMemberRecord,
  type ProjectRecord,
  type ProjectTaskRecord,
} from './record.js'
import type { ProjectStore } from './store.js'

/** A member of a project. */
export const ProjectMember = named('ProjectMember', object(memberFields))
/** The value form of `ProjectMember`. */
export type ProjectMember = Infer<typeof ProjectMember>
/** A channel that a project links. */
export const ProjectLink = named('ProjectLink', object(linkFields))
/** The value form of `ProjectLink`. */
export type ProjectLink = Infer<typeof ProjectLink>
/** A task of a project. */
export const ProjectTask = named('ProjectTask', object(taskFields))
/** The value form of `ProjectTask`. */
export type ProjectTask = Infer<typeof ProjectTask>

/** Members that the view of a project shows. */
export const mostShown = 100

/** A project with what it counts. */
export const Project = named(
  'Project',
  object({
    project_id: string(),
    display_name: string(),
    description: optional(string()),
    status: enums(projectStatuses),
    member_count: integer({ min: 0 }),
    channel_count: integer({ min: 0 }),
    task_count: integer({ min: 0 }),
    active_task_count: doc(integer({ min: 0 }), 'Tasks that are not done.'),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    members: optional(doc(array(ProjectMember), `The first ${mostShown} by id; member_count counts all.`)),
    channel_links: optional(doc(array(ProjectLink), 'In the order in which they were made.')),
    metadata: optional(jsonObject()),
  }),
)
/** The value form of `Project`. */
export type Project = Infer<typeof Project>

export const viewMember = (record: ProjectMemberRecord): ProjectMember => {
  const { project_id: _, ...member } = record
  return member
}
export const viewLink = (record: ProjectLinkRecord): ProjectLink => {
  const { project_id: _, position: __, ...link } = record
  return link
}
export const viewTask = (record: ProjectTaskRecord): ProjectTask => {
  const { follows: _, ...task } = record
  return task
}

export const viewProject = (store: ProjectStore, project: ProjectRecord): Project => {
  const { project_id, display_name, description, status, created_at_ms, updated_at_ms, metadata } = project
  const members = store.membersOf(project_id, { limit: mostShown }).map(viewMember)
  const channel_links = store.linksOf(project_id).map(viewLink)
  return {
    project_id,
    display_name,
    ...(description !== undefined && { description }),
    status,
    ...store.counts(project_id),
    created_at_ms,
    updated_at_ms,
    ...(members.length > 0 && { members }),
    ...(channel_links.length > 0 && { channel_links }),
    ...(metadata !== undefined && { metadata }),
  }
}
