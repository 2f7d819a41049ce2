/** Projects, their members, links and tasks. What is counted is counted by indexes. */
import {
  timeKey,
  type Collection,
  type CollectionSpec,
  type Skip,
  type State,
  type Tx,
} from '../../../../core/plugin.js'
import { projectErrors } from './errors.js'
import {
  isDone,
  ProjectLinkRecord,
  ProjectMemberRecord,
  ProjectRecord,
  ProjectTaskRecord,
  type ProjectTaskStatus,
} from './record.js'
import { projectTaskErrors } from './task-errors.js'

/** Of a project and something of it; neither id holds a slash. */
export const keyOf = (project_id: string, id: string): string => `${project_id}/${id}`
/** The project in such a key. */
export const projectOf = (key: string): string => key.slice(0, key.indexOf('/'))
export const statusGroup = (project_id: string, status: ProjectTaskStatus): string => `${project_id}/${status}`

const all = { group: () => 'all' }
const ofProject = ({ project_id }: { readonly project_id: string }): string => project_id
const owner = ({ project_id }: { readonly project_id: string }) => [{ collection: 'projects', id: project_id }]

const projectCollection: CollectionSpec<ProjectRecord> = {
  name: 'projects',
  version: 1,
  id: ({ project_id }) => project_id,
  indexes: { all, status: { group: ({ status }) => status } },
  settled: ({ status }) => status !== 'active',
  schema: ProjectRecord,
}
const memberCollection: CollectionSpec<ProjectMemberRecord> = {
  name: 'project_members',
  version: 1,
  id: ({ project_id, member_id }) => keyOf(project_id, member_id),
  indexes: {
    project: { group: ofProject, sort: ({ member_id }) => member_id },
    session: { group: ({ session_id }) => session_id, sort: ofProject },
    project_session: {
      group: ({ project_id, session_id }) => (session_id === undefined ? undefined : keyOf(project_id, session_id)),
    },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: ProjectMemberRecord,
  references: owner,
}
const linkCollection: CollectionSpec<ProjectLinkRecord> = {
  name: 'project_links',
  version: 1,
  id: ({ project_id, channel_id }) => keyOf(project_id, channel_id),
  indexes: {
    project: { group: ofProject, sort: ({ position, channel_id }) => `${timeKey(position)} ${channel_id}` },
    channel: { group: ({ channel_id }) => channel_id, sort: ofProject },
    mirrored: { group: ({ project_id, mirror_members }) => (mirror_members ? project_id : undefined) },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: ProjectLinkRecord,
  references: owner,
}
const open = (task: ProjectTaskRecord, group: string | undefined): string | undefined =>
  isDone(task.status) ? undefined : group
const taskCollection: CollectionSpec<ProjectTaskRecord> = {
  name: 'project_tasks',
  version: 1,
  id: ({ project_id, project_task_id }) => keyOf(project_id, project_task_id),
  indexes: {
    project: { group: ofProject, sort: ({ project_task_id }) => project_task_id },
    open: { group: (task) => open(task, task.project_id) },
    status: {
      group: ({ project_id, status }) => statusGroup(project_id, status),
      sort: ({ project_task_id }) => project_task_id,
    },
    assignee: {
      group: ({ project_id, assignee_member_id: id }) => (id === undefined ? undefined : keyOf(project_id, id)),
      sort: ({ project_task_id }) => project_task_id,
    },
    owner: {
      group: (task) =>
        task.assignee_member_id === undefined ? undefined : open(task, keyOf(task.project_id, task.assignee_member_id)),
    },
    session: { group: (task) => open(task, task.primary_session_id) },
    discussed: {
      group: (task) =>
        task.discussion === undefined ? undefined : open(task, keyOf(task.project_id, task.discussion.channel_id)),
    },
    dependent: { group: ({ project_id, blocked_by }) => (blocked_by === undefined ? undefined : project_id) },
    run: { group: ({ latest_run_id }) => latest_run_id },
    follows: { group: ({ follows }) => (follows === true ? 'all' : undefined) },
    follows_session: {
      group: ({ follows, primary_session_id }) => (follows === true ? primary_session_id : undefined),
    },
  },
  settled: ({ status, follows }) => isDone(status) && follows !== true,
  removed: 'forgotten',
  schema: ProjectTaskRecord,
  references: owner,
}

export interface Range {
  readonly limit: number
  readonly beyond?: string | undefined
}
export interface ProjectCounts {
  readonly member_count: number
  readonly channel_count: number
  readonly task_count: number
  readonly active_task_count: number
}

export interface ProjectStore {
  readonly state: State
  readonly skip: Skip
  readonly projects: Collection<ProjectRecord>
  readonly members: Collection<ProjectMemberRecord>
  readonly links: Collection<ProjectLinkRecord>
  readonly tasks: Collection<ProjectTaskRecord>
  /** Throws `project_not_found`. */
  get(project_id: string): ProjectRecord
  counts(project_id: string): ProjectCounts
  member(project_id: string, member_id: string): ProjectMemberRecord | undefined
  /** Throws `project_member_not_found`. */
  getMember(project_id: string, member_id: string): ProjectMemberRecord
  /** Who a session is in a project. */
  memberOf(project_id: string, session_id: string): ProjectMemberRecord | undefined
  /** By id. */
  membersOf(project_id: string, range: Range): ProjectMemberRecord[]
  /** Who a session is, by project. */
  membershipsOf(session_id: string, range: Range): ProjectMemberRecord[]
  link(project_id: string, channel_id: string): ProjectLinkRecord | undefined
  /** In the order in which they were made. */
  linksOf(project_id: string): ProjectLinkRecord[]
  task(project_id: string, project_task_id: string): ProjectTaskRecord | undefined
  /** Throws `project_task_not_found`. */
  getTask(project_id: string, project_task_id: string): ProjectTaskRecord
  /** Writes a task; its project has changed with it. */
  putTask(tx: Tx, task: ProjectTaskRecord): ProjectTaskRecord
  /** Says that something of a project has changed. */
  touch(tx: Tx, project_id: string): void
}

/** Links of one project at most. */
export const mostLinks = 100

export const declareProjects = (state: State, skip: Skip): ProjectStore => {
  const projects = state.collection(projectCollection)
  const members = state.collection(memberCollection)
  const links = state.collection(linkCollection)
  const tasks = state.collection(taskCollection)
  const get = (project_id: string): ProjectRecord => {
    const project = projects.find(project_id)
    if (project === undefined) throw projectErrors.project_not_found({ details: { project_id } })
    return project
  }
  const member = (project_id: string, member_id: string) => members.find(keyOf(project_id, member_id))
  const task = (project_id: string, project_task_id: string) => tasks.find(keyOf(project_id, project_task_id))
  const touch = (tx: Tx, project_id: string): void => {
    const project = get(project_id)
    // Once in a commit, however much of it changes there.
    if (project.updated_at_ms < tx.now) tx.put(projects, { ...project, updated_at_ms: tx.now })
  }
  return {
    state,
    skip,
    projects,
    members,
    links,
    tasks,
    get,
    counts: (project_id) => ({
      member_count: members.count('project', project_id),
      channel_count: links.count('project', project_id),
      task_count: tasks.count('project', project_id),
      active_task_count: tasks.count('open', project_id),
    }),
    member,
    getMember(project_id, member_id) {
      const found = member(project_id, member_id)
      if (found === undefined) throw projectErrors.project_member_not_found({ details: { project_id, member_id } })
      return found
    },
    memberOf(project_id, session_id) {
      return members.list({ index: 'project_session', group: keyOf(project_id, session_id), limit: 1 })[0]
    },
    membersOf: (project_id, range) => members.list({ index: 'project', group: project_id, ...rangeOf(range) }),
    membershipsOf: (session_id, range) => members.list({ index: 'session', group: session_id, ...rangeOf(range) }),
    link: (project_id, channel_id) => links.find(keyOf(project_id, channel_id)),
    linksOf: (project_id) => links.list({ index: 'project', group: project_id, limit: mostLinks }),
    task,
    getTask(project_id, project_task_id) {
      get(project_id)
      const found = task(project_id, project_task_id)
      if (found === undefined)
        throw projectTaskErrors.project_task_not_found({ details: { project_id, project_task_id } })
      return found
    },
    putTask(tx, next) {
      const stamped = { ...next, updated_at_ms: Math.max(tx.now, next.updated_at_ms) }
      tx.put(tasks, stamped)
      touch(tx, next.project_id)
      return stamped
    },
    touch,
  }
}

const rangeOf = ({ limit, beyond }: Range) => ({ limit, ...(beyond !== undefined && { beyond }) })
