/** What is kept of projects: one record each for a project, a member, a link and a task. Times in Unix ms. */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  jsonObject,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'

export const projectStatuses = ['active', 'paused', 'completed', 'archived'] as const
export const projectMemberKinds = ['human_actor', 'session'] as const
export const projectTaskStatuses = ['pending', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled'] as const
/** One of `projectTaskStatuses`. */
export type ProjectTaskStatus = (typeof projectTaskStatuses)[number]

/** Those of tasks that are done, however that came. */
export const isDone = (status: ProjectTaskStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled'

/** The project itself; how many members, links and tasks it has is counted by indexes. */
export const ProjectRecord = object({
  project_id: string(),
  display_name: string(),
  description: optional(string()),
  status: enums(projectStatuses),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  metadata: optional(jsonObject()),
})
/** The value form of `ProjectRecord`. */
export type ProjectRecord = Infer<typeof ProjectRecord>

export const memberFields = {
  member_id: string(),
  member_kind: enums(projectMemberKinds),
  display_name: string(),
  session_id: optional(doc(string(), 'Of those of kind session.')),
  actor_id: optional(doc(string(), 'Of those of kind human_actor.')),
  role: optional(string()),
  expertise_tags: optional(array(string())),
  joined_at_ms: timestamp(),
  metadata: optional(jsonObject()),
}
/** A member; its key is `<project_id>/<member_id>`. */
export const ProjectMemberRecord = object({ project_id: string(), ...memberFields })
/** The value form of `ProjectMemberRecord`. */
export type ProjectMemberRecord = Infer<typeof ProjectMemberRecord>

export const linkFields = {
  channel_id: string(),
  role: optional(string()),
  default_for_new_tasks: doc(boolean(), 'True of exactly one of the links of a project.'),
  mirror_members: doc(boolean(), 'Whether the members of the project are members of the channel.'),
  linked_at_ms: timestamp(),
  metadata: optional(jsonObject()),
}
/** A linked channel; its key is `<project_id>/<channel_id>`. */
export const ProjectLinkRecord = object({
  project_id: string(),
  ...linkFields,
  /** Links stand in the order in which they were made. */
  position: integer({ min: 0 }),
})
/** The value form of `ProjectLinkRecord`. */
export type ProjectLinkRecord = Infer<typeof ProjectLinkRecord>

export const Discussion = object({ channel_id: string(), thread_root_message_id: string() })
/** The value form of `Discussion`. */
export type Discussion = Infer<typeof Discussion>

export const taskFields = {
  project_task_id: string(),
  project_id: string(),
  title: string(),
  description: string(),
  status: enums(projectTaskStatuses),
  assignee_member_id: optional(string()),
  primary_session_id: optional(doc(string(), 'The session of the assignee.')),
  latest_run_id: optional(doc(string(), 'The run that does it, or did it last.')),
  discussion: optional(Discussion),
  blocked_by: optional(doc(array(string()), 'Tasks of the project that must be completed before it is started.')),
  output: optional(doc(string(), 'What came of it.')),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  metadata: optional(jsonObject()),
}
/** A task; its key is `<project_id>/<project_task_id>`. */
export const ProjectTaskRecord = object({
  ...taskFields,
  /** Its latest run has not ended, as far as the record knows: what becomes of that becomes of the task. */
  follows: optional(boolean()),
})
/** The value form of `ProjectTaskRecord`. */
export type ProjectTaskRecord = Infer<typeof ProjectTaskRecord>
