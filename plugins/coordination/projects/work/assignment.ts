/** What a request says of a task, looked up: who does it, where it is discussed, what it waits for, what run did it. */
import type { Channels } from '../../channels/contract.js'
import type { RunRecord, Runs } from '../../../execution/runs/contract.js'
import { projectErrors } from '../record/errors.js'
import { distinct, refuse, type TaskDraft } from '../record/fields.js'
import type { Discussion, ProjectMemberRecord, ProjectTaskRecord } from '../record/record.js'
import type { ProjectStore } from '../record/store.js'
import { projectTaskErrors } from '../record/task-errors.js'
import { sessionOfAgent, type RosterParts } from '../roster/members.js'
import { waitsFor } from './graph.js'
import { hasEnded } from './projection.js'

export interface TaskParts extends Pick<RosterParts, 'store' | 'sessions' | 'bounds'> {
  readonly channels: Channels
  readonly runs: Runs
}

type Asked = Pick<TaskDraft, 'assignment' | 'assignee_member_id' | 'assignee_session_id' | 'assignee_agent_id'>
/** Who does a task, and in which session. */
export type Assignee = Required<Pick<ProjectTaskRecord, 'assignee_member_id' | 'primary_session_id'>>

/** A member that has a session. Throws for one that is not there, or has none. */
export const sessionMember = (store: ProjectStore, project_id: string, member_id: string): Assignee => {
  const { session_id } = store.getMember(project_id, member_id)
  if (session_id === undefined) throw projectTaskErrors.project_task_assignee_invalid({ details: { member_id } })
  return { assignee_member_id: member_id, primary_session_id: session_id }
}

const memberWith = (store: ProjectStore, project_id: string, session_id: string): ProjectMemberRecord => {
  const member = store.memberOf(project_id, session_id)
  if (member === undefined)
    throw projectErrors.project_member_not_found({ details: { project_id, member_id: session_id } })
  return member
}

/** The member that a request names by one of three ids; undefined if it names none. */
export const assigneeOf = (
  { store, sessions }: Pick<TaskParts, 'store' | 'sessions'>,
  project_id: string,
  { assignment = {}, ...flat }: Asked,
): Assignee | undefined => {
  const bySession = (id: string): string => memberWith(store, project_id, id).member_id
  const named = [assignment, flat].flatMap(({ assignee_member_id, assignee_session_id, assignee_agent_id }) => [
    ...(assignee_member_id === undefined ? [] : [() => assignee_member_id]),
    ...(assignee_session_id === undefined ? [] : [() => bySession(sessions.get(assignee_session_id).session_id)]),
    ...(assignee_agent_id === undefined ? [] : [() => bySession(sessionOfAgent(sessions, assignee_agent_id))]),
  ])
  const [first, ...more] = named
  if (more.length > 0) return refuse('assignment', 'must name one member, by one id')
  return first === undefined ? undefined : sessionMember(store, project_id, first())
}

/** Where a task is discussed: a message that opens a subject, in a channel that the project links. */
export const discussionOf = (
  { store, channels }: Pick<TaskParts, 'store' | 'channels'>,
  project_id: string,
  asked: Pick<TaskDraft, 'discussion_channel_id' | 'discussion_thread_root_message_id'>,
): Discussion | undefined => {
  const { discussion_channel_id: channel_id, discussion_thread_root_message_id: root } = asked
  if (channel_id === undefined && root === undefined) return undefined
  if (channel_id === undefined) return refuse('discussion_channel_id', 'must be there with the message')
  if (root === undefined) return refuse('discussion_thread_root_message_id', 'must be there with the channel')
  if (store.link(project_id, channel_id) === undefined)
    throw projectErrors.project_channel_not_linked({
      details: { project_id, channel_id },
      errors: [{ path: 'body.discussion_channel_id', rule: 'must be of a linked channel' }],
    })
  const { root_message_id } = channels.getMessage(channel_id, root)
  if (root_message_id !== root) return refuse('discussion_thread_root_message_id', 'must open a subject')
  return { channel_id, thread_root_message_id: root }
}

/** What a task is to be blocked by: tasks of the same project, of which none waits for it. */
export const blockersOf = (
  store: ProjectStore,
  { project_id, project_task_id }: Pick<ProjectTaskRecord, 'project_id' | 'project_task_id'>,
  asked: readonly string[],
): string[] => {
  const ids = distinct(asked)
  if (ids.includes(project_task_id))
    throw projectTaskErrors.project_task_self_dependency({ details: { project_task_id } })
  for (const id of ids) store.getTask(project_id, id)
  const through = waitsFor(project_task_id, ids, (id) => store.task(project_id, id)?.blocked_by ?? [])
  if (through !== undefined)
    throw projectTaskErrors.project_task_dependency_cycle({ details: { project_id, project_task_id, through } })
  return ids
}

/** A run that a request names as the latest one: of the session of the assignee, and over. */
export const namedRun = (
  { runs }: Pick<TaskParts, 'runs'>,
  run_id: string,
  session_id: string | undefined,
): RunRecord => {
  const run = runs.get(run_id)
  const reason =
    session_id === undefined
      ? 'the task is assigned to nobody'
      : run.session_id !== session_id
        ? 'it is of another session than the assignee'
        : hasEnded(run)
          ? undefined
          : 'it has not ended'
  if (reason === undefined) return run
  throw projectTaskErrors.project_task_run_invalid({
    details: { run_id, reason },
    errors: [{ path: 'body.latest_run_id', rule: 'must be of the assignee, and over' }],
  })
}

/** The run of a task while it has not ended. One that is not kept any more has. */
const openRun = (
  { runs }: Pick<TaskParts, 'runs'>,
  { latest_run_id }: Pick<ProjectTaskRecord, 'latest_run_id'>,
): RunRecord | undefined => {
  const run = latest_run_id === undefined ? undefined : runs.find(latest_run_id)
  return run === undefined || hasEnded(run) ? undefined : run
}

/** Throws while the run of a task has not ended, be it queued. */
export const requireNoRun = (parts: Pick<TaskParts, 'runs'>, task: Pick<ProjectTaskRecord, 'latest_run_id'>): void => {
  const run = openRun(parts, task)
  if (run !== undefined) throw projectTaskErrors.project_task_run_active({ details: { run_id: run.run_id } })
}

/** A task that another one waits for, the first that is not completed. */
export const awaited = (
  store: ProjectStore,
  { project_id, blocked_by = [] }: Pick<ProjectTaskRecord, 'project_id' | 'blocked_by'>,
): string | undefined => blocked_by.find((id) => store.task(project_id, id)?.status !== 'completed')

/** Throws unless the project takes new work. */
export const requireActive = (store: ProjectStore, project_id: string): void => {
  const { status } = store.get(project_id)
  if (status !== 'active') throw projectErrors.project_not_active({ details: { project_id, status } })
}
