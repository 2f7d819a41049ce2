/** Tasks, as people and agents make and change them. */
import { canonical, type Ids, type Tx } from '../../../../core/plugin.js'
import { projectErrors } from '../record/errors.js'
import { filled, given, refuse, trimmed, type TaskChange, type TaskDraft } from '../record/fields.js'
import type { ProjectTaskRecord } from '../record/record.js'
import { keyOf, type ProjectStore } from '../record/store.js'
import { projectTaskErrors } from '../record/task-errors.js'
import {
  assigneeOf,
  blockersOf,
  discussionOf,
  namedRun,
  requireActive,
  requireNoRun,
  type TaskParts,
} from './assignment.js'
import { caughtUp, outputOf, statusOf } from './projection.js'

export interface ChangeParts extends TaskParts {
  readonly ids: Ids
}

/** What is known of a task by a run of it that has ended. */
const byRun = (
  { runs }: Pick<TaskParts, 'runs'>,
  run_id: string,
  session_id: string | undefined,
): Pick<ProjectTaskRecord, 'latest_run_id' | 'status' | 'output'> => {
  const run = namedRun({ runs }, run_id, session_id)
  return { latest_run_id: run_id, status: statusOf(run), output: outputOf(runs, run) }
}

const atLeastOne = (ids: readonly string[]): string[] | undefined => (ids.length === 0 ? undefined : [...ids])

/** A task that is wanted. */
export interface WantedTask {
  readonly project_id: string
  readonly draft: TaskDraft
}

export const createTask = (parts: ChangeParts, tx: Tx, wanted: WantedTask): ProjectTaskRecord =>
  parts.store.putTask(tx, newTask(parts, wanted, tx.now))

/** The task that a draft is, if it can be one. */
export const newTask = (parts: ChangeParts, { project_id, draft }: WantedTask, now: number): ProjectTaskRecord => {
  const { store, ids, bounds } = parts
  requireActive(store, project_id)
  const project_task_id = draft.project_task_id?.trim() ?? ids.make('project_task')
  if (store.task(project_id, project_task_id) !== undefined)
    throw projectTaskErrors.project_task_exists({ details: { project_id, project_task_id } })
  if (store.tasks.count('project', project_id) >= bounds.max_tasks)
    throw projectErrors.project_limit({ details: { project_id, what: 'tasks', limit: bounds.max_tasks } })
  const assignee = assigneeOf(parts, project_id, draft)
  const { latest_run_id: run_id } = draft
  return given({
    project_task_id,
    project_id,
    title: draft.title.trim(),
    description: draft.description ?? '',
    status: draft.status,
    ...assignee,
    discussion: discussionOf(parts, project_id, draft),
    blocked_by: atLeastOne(blockersOf(store, { project_id, project_task_id }, draft.blocked_by ?? [])),
    output: trimmed(draft.output) === undefined ? undefined : draft.output,
    ...(run_id !== undefined && byRun(parts, run_id, assignee?.primary_session_id)),
    created_at_ms: now,
    updated_at_ms: now,
    metadata: filled(draft.metadata),
  })
}

/** The assignment that comes of a change. */
const nextAssignee = (
  parts: TaskParts,
  before: ProjectTaskRecord,
  change: TaskChange,
): Pick<ProjectTaskRecord, 'assignee_member_id' | 'primary_session_id'> => {
  const asked = assigneeOf(parts, before.project_id, change)
  if (asked !== undefined && change.clear_assignment === true)
    return refuse('clear_assignment', 'cannot be combined with an assignment')
  if (change.clear_assignment === true) return {}
  const { assignee_member_id, primary_session_id } = before
  return asked ?? { assignee_member_id, primary_session_id }
}

const nextDiscussion = (parts: TaskParts, before: ProjectTaskRecord, change: TaskChange) => {
  const asked = discussionOf(parts, before.project_id, change)
  if (asked !== undefined && change.clear_discussion === true)
    return refuse('clear_discussion', 'cannot be combined with a discussion')
  return change.clear_discussion === true ? undefined : (asked ?? before.discussion)
}

/** What came of the task, as a person says it; what a run has put out stays what it is. */
const nextOutput = (before: ProjectTaskRecord, change: TaskChange): string | undefined => {
  const { output, clear_output, latest_run_id } = change
  if (output === undefined && clear_output !== true) return before.output
  if (output !== undefined && clear_output === true) refuse('clear_output', 'cannot be combined with output')
  const isReplaced = latest_run_id !== undefined && latest_run_id !== before.latest_run_id
  if (before.latest_run_id !== undefined && !isReplaced)
    throw projectTaskErrors.project_task_output_derived({ details: { run_id: before.latest_run_id } })
  return trimmed(output) === undefined ? undefined : output
}

/** Of another assignee the run before is none; a run that is named says what became of the task. */
const nextRun = (
  parts: TaskParts,
  { before, change, session_id }: { before: ProjectTaskRecord; change: TaskChange; session_id: string | undefined },
): Partial<ProjectTaskRecord> => {
  if (change.latest_run_id !== undefined && change.latest_run_id !== before.latest_run_id)
    return byRun(parts, change.latest_run_id, session_id)
  return { latest_run_id: session_id === before.primary_session_id ? before.latest_run_id : undefined }
}

/** What must not change while the run of a task goes on. */
const guarded = ['assignee_member_id', 'primary_session_id', 'blocked_by', 'latest_run_id', 'status', 'output'] as const
const guard = (parts: TaskParts, before: ProjectTaskRecord, after: ProjectTaskRecord): void => {
  if (guarded.some((field) => canonical(before[field] ?? null) !== canonical(after[field] ?? null)))
    requireNoRun(parts, before)
}

/** A change that changes nothing leaves the time of the task. */
export const updateTask = (
  parts: TaskParts,
  tx: Tx,
  { task, change }: { readonly task: ProjectTaskRecord; readonly change: TaskChange },
): ProjectTaskRecord => {
  const { store } = parts
  const before = caughtUp(parts.runs, task)
  const { title, description, status, blocked_by, metadata } = change
  const assignee = nextAssignee(parts, before, change)
  const { assignee_member_id: _, primary_session_id: __, ...rest } = before
  const after: ProjectTaskRecord = given({
    ...rest,
    title: title?.trim() ?? before.title,
    description: description ?? before.description,
    status: status ?? before.status,
    ...assignee,
    discussion: nextDiscussion(parts, before, change),
    blocked_by: blocked_by === undefined ? before.blocked_by : atLeastOne(blockersOf(store, before, blocked_by)),
    output: nextOutput(before, change),
    ...nextRun(parts, { before, change, session_id: assignee.primary_session_id }),
    metadata: metadata === undefined ? before.metadata : filled(metadata),
  })
  if (canonical(after) === canonical(task)) return task
  guard(parts, before, after)
  return store.putTask(tx, after)
}

const portion = 100

/** A task that is blocked by this one. */
const dependentOn = (store: ProjectStore, { project_id, project_task_id }: ProjectTaskRecord): string | undefined => {
  for (let beyond: string | undefined; ;) {
    const some = store.tasks.list({
      index: 'dependent',
      group: project_id,
      limit: portion,
      ...(beyond !== undefined && { beyond }),
    })
    const found = some.find(({ blocked_by = [] }) => blocked_by.includes(project_task_id))
    const last = some.at(-1)
    if (found !== undefined || last === undefined || some.length < portion) return found?.project_task_id
    beyond = keyOf(last.project_id, last.project_task_id)
  }
}

/** Deletes a task. Throws while its run goes on, and while another one is blocked by it. */
export const deleteTask = (parts: Pick<TaskParts, 'store' | 'runs'>, tx: Tx, task: ProjectTaskRecord): void => {
  const { store } = parts
  const { project_id, project_task_id } = task
  requireNoRun(parts, task)
  const dependent = dependentOn(store, task)
  if (dependent !== undefined)
    throw projectTaskErrors.project_task_in_use({ details: { project_id, project_task_id, dependent } })
  tx.remove(store.tasks, keyOf(project_id, project_task_id), 'somebody deleted it')
  store.touch(tx, project_id)
}
