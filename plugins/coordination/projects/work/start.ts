/** Starting a task: its run, its reservation and the message that opens its thread are one commit. */
import { type JsonObject, type Tx } from '../../../../core/plugin.js'
import type { ReceiptKey, RunRecord, Submission } from '../../../execution/runs/contract.js'
import { given, trimmed } from '../record/fields.js'
import { isDone, type Discussion, type ProjectRecord, type ProjectTaskRecord } from '../record/record.js'
import { projectTaskErrors } from '../record/task-errors.js'
import { mirroredId } from '../roster/mirror.js'
import { awaited, requireActive, requireNoRun, sessionMember, type Assignee, type TaskParts } from './assignment.js'
import { control, controlFault } from './control.js'
import { caughtUp, statusOf } from './projection.js'
import { kickoffOf, toldOf, type Place } from './told.js'

/** What a start may say. */
export interface StartWish {
  readonly provider?: string | undefined
  readonly model?: string | undefined
  readonly kickoff_message?: string | undefined
  readonly metadata?: JsonObject | undefined
}
/** A task to be started. */
export interface Start {
  readonly project_id: string
  readonly project_task_id: string
  readonly wish: StartWish
  /** The same one again gives the run of the first, whatever the task is like by now. */
  readonly receipt?: ReceiptKey | undefined
}
/** A task that may be started now. */
interface Ready extends Assignee {
  readonly project: ProjectRecord
  readonly task: ProjectTaskRecord
}

/** Throws unless everything that it was blocked by is completed. */
export const requireUnblocked = (store: TaskParts['store'], task: ProjectTaskRecord): void => {
  const blocked_by = awaited(store, task)
  if (blocked_by === undefined) return
  throw projectTaskErrors.project_task_waits({ details: { ...of(task), blocked_by } })
}

/** The checks of a start, in their order. */
const readyTask = (parts: TaskParts, { project_id, project_task_id }: Start): Ready => {
  const { store, runs } = parts
  const task = caughtUp(runs, store.getTask(project_id, project_task_id))
  requireActive(store, project_id)
  const { status, assignee_member_id } = task
  if (isDone(status)) throw projectTaskErrors.project_task_terminal({ details: { ...of(task), status } })
  requireNoRun(parts, task)
  requireUnblocked(store, task)
  if (assignee_member_id === undefined) throw projectTaskErrors.project_task_not_assigned({ details: of(task) })
  return { project: store.get(project_id), task, ...sessionMember(store, project_id, assignee_member_id) }
}

const of = ({ project_id, project_task_id }: ProjectTaskRecord) => ({
  project_id,
  project_task_id,
  source_plugin: 'project_task',
})

export type PlaceParts = Pick<TaskParts, 'store' | 'channels'>

/** The thread of the task if it is still there. */
const keptDiscussion = ({ store, channels }: PlaceParts, { project_id, discussion }: ProjectTaskRecord) => {
  if (discussion === undefined || store.link(project_id, discussion.channel_id) === undefined) return undefined
  const message = channels.message(discussion.thread_root_message_id)
  return message?.channel_id === discussion.channel_id ? discussion : undefined
}
const defaultLink = ({ store }: PlaceParts, { project_id }: ProjectTaskRecord) =>
  store.linksOf(project_id).find(({ default_for_new_tasks }) => default_for_new_tasks)

/** Where a task is discussed: in its thread, or in the channel where its start opens one. */
export const placeOf = (parts: PlaceParts, task: ProjectTaskRecord): Place | undefined => {
  const link = defaultLink(parts, task)
  return keptDiscussion(parts, task) ?? (link && { channel_id: link.channel_id })
}

/** Opens a thread in the default channel, if there is one. */
const openThread = (
  parts: TaskParts,
  tx: Tx,
  { ready, kickoff }: { readonly ready: Ready; readonly kickoff: string | undefined },
): Discussion | undefined => {
  const { store, channels } = parts
  const { project, task, assignee_member_id: member_id = '' } = ready
  const link = defaultLink(parts, task)
  if (link === undefined) return undefined
  const { channel_id, mirror_members } = link
  if (controlFault(channels, channel_id) === 'taken')
    throw projectTaskErrors.project_control_taken({ details: { channel_id } })
  if (channels.member(channel_id, control.member_id) === undefined) channels.putMember(tx, channel_id, control)
  const { message_id } = channels.post(tx, {
    channel_id,
    sender: { id: control.actor_id, display_name: control.display_name },
    output: { content: trimmed(kickoff) ?? kickoffOf(store, { project, task }), parts: [], artifacts: [] },
    ...(mirror_members && { addressed_member_ids: [mirroredId({ project_id: task.project_id, member_id })] }),
    metadata: of(task),
  })
  return { channel_id, thread_root_message_id: message_id }
}

const submissionOf = (
  { store }: TaskParts,
  { project, task, primary_session_id: session_id = '' }: Ready,
  { wish: { provider, model, metadata }, discussion }: { wish: StartWish; discussion: Place | undefined },
): Submission => {
  const { project_task_id, ...rest } = of(task)
  return {
    session_id,
    origin: { project_task_id },
    input: given({
      content: toldOf(store, { project, task, discussion }),
      source_plugin: 'project_task',
      source_kind: 'project_task',
      actor_id: control.actor_id,
      provider,
      generation: model === undefined ? undefined : { model },
      metadata: given({
        ...rest,
        discussion_channel_id: discussion?.channel_id,
        discussion_thread_root_message_id: discussion?.thread_root_message_id,
        operator_metadata: metadata,
      }),
    }),
  }
}

/** The same task for the same session, as it was when the run was prepared. */
const requireSame = (before: Ready, now: Ready): void => {
  if (before.primary_session_id !== now.primary_session_id || before.task.latest_run_id !== now.task.latest_run_id)
    throw projectTaskErrors.project_task_changed({ details: { project_task_id: now.task.project_task_id } })
}

/**
 * The run of a task, which is durable when this resolves. Of many starts at once one makes a run. Rejects with the
 * problems of tasks and of submissions, and then nothing has changed.
 */
export const startTask = async (parts: TaskParts, start: Start): Promise<RunRecord> => {
  const { store, runs } = parts
  const { wish, receipt } = start
  const known = runs.replayed(receipt)
  if (known !== undefined) return known
  const asked = readyTask(parts, start)
  const submission = submissionOf(parts, asked, { wish, discussion: placeOf(parts, asked.task) })
  const prepared = await runs.prepare({ ...submission, ...(receipt !== undefined && { receipt }) })
  return store.state.commit((tx) => {
    const first = runs.replayed(receipt)
    if (first !== undefined) return first
    const ready = readyTask(parts, start)
    requireSame(asked, ready)
    const discussion =
      keptDiscussion(parts, ready.task) ?? openThread(parts, tx, { ready, kickoff: wish.kickoff_message })
    // What the run is told has the thread in it, which is opened only now.
    const { input } = submissionOf(parts, ready, { wish, discussion })
    const run = runs.admit({ ...prepared, input: { ...prepared.input, ...input } })(tx)
    const { output: _, discussion: __, ...task } = ready.task
    store.putTask(tx, {
      ...task,
      status: statusOf(run),
      latest_run_id: run.run_id,
      primary_session_id: run.session_id,
      follows: true,
      ...(discussion !== undefined && { discussion }),
    })
    return run
  })
}
