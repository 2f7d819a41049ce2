/** What may become of a task, as pure changes of a set: made once to answer, and once more in the commit. */
import type { JsonObject } from '../../../core/plugin.js'
import type { SessionTask, TaskStatus } from './contract.js'
import { taskErrors } from './errors.js'
import { link, type TaskSet } from './graph.js'
import { hasEnded } from './store.js'

/** Most bytes of the metadata of one task as JSON. */
const metadataBytes = 16 * 1024

/** Keys by which the daemon says what it knows; a model cannot say it in its place. */
const reservedKeys = [
  'kind',
  'created_by_run_id',
  'tool_call_id',
  'command',
  'workdir',
  'pid',
  'pid_started',
  'exit_code',
  'signal',
  'ended_at_ms',
  'output_lost_bytes',
  'terminal_reason',
  'recovered_on_boot',
  'stop_requested',
  'stop_reason',
  'silent_since_ms',
  'process_tree_.*',
]
const reserved = new RegExp(`^(?:${reservedKeys.join('|')})$`, 'u')

export interface NewTask {
  readonly title: string
  readonly description?: string | undefined
  readonly owner_agent_id?: string | undefined
  readonly metadata?: JsonObject | undefined
  readonly blocked_by?: readonly string[] | undefined
  readonly blocks?: readonly string[] | undefined
}

export interface TaskEdit {
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly status?: TaskStatus | undefined
  readonly owner_agent_id?: string | undefined
  readonly output?: string | undefined
  readonly metadata?: JsonObject | undefined
  readonly remove_metadata_keys?: readonly string[] | undefined
  readonly blocked_by?: readonly string[] | undefined
  readonly add_blocked_by?: readonly string[] | undefined
  readonly remove_blocked_by?: readonly string[] | undefined
  readonly blocks?: readonly string[] | undefined
  readonly add_blocks?: readonly string[] | undefined
  readonly remove_blocks?: readonly string[] | undefined
}

export const getTask = (set: Pick<TaskSet, 'find'>, id: string): SessionTask => {
  const task = set.find(id)
  if (task === undefined) throw taskErrors.task_not_found({ details: { task_id: id } })
  return task
}

const checkKeys = (keys: readonly string[]): void => {
  const key = keys.find((one) => reserved.test(one))
  if (key !== undefined) throw taskErrors.task_metadata_reserved({ details: { key } })
}

const fitting = (metadata: JsonObject): JsonObject => {
  if (Buffer.byteLength(JSON.stringify(metadata)) > metadataBytes)
    throw taskErrors.task_metadata_too_large({ details: { limit: metadataBytes } })
  return metadata
}

/** Titles tell open tasks apart; those of commands are not chosen by anybody. */
const checkTitle = ({ store, session_id }: TaskSet, { id, title }: { id: string; title: string }): void => {
  const holder = store.titled(session_id, title)
  if (holder !== undefined && holder !== id) throw taskErrors.task_title_taken({ details: { task_id: holder } })
}

/** One more task that is open. */
const checkRoom = ({ store, session_id }: TaskSet, max_open: number): void => {
  if (store.countOpen(session_id) >= max_open) throw taskErrors.task_limit_reached({ details: { limit: max_open } })
}

export interface Creation {
  readonly id: string
  readonly run_id: string
  readonly max_open: number
  readonly task: NewTask
}

export const createTask = (set: TaskSet, { id, run_id, max_open, task }: Creation): SessionTask => {
  const { description = '', owner_agent_id = '', metadata = {}, blocked_by = [], blocks = [] } = task
  const title = task.title.trim()
  checkTitle(set, { id, title })
  checkKeys(Object.keys(metadata))
  checkRoom(set, max_open)
  set.put({
    id,
    session_id: set.session_id,
    title,
    description,
    status: 'pending',
    ...(owner_agent_id !== '' && { owner_agent_id }),
    metadata: fitting({ ...metadata, created_by_run_id: run_id }),
    created_at_ms: set.now,
    updated_at_ms: set.now,
  })
  link(set, id, { blocked_by, blocks })
  return getTask(set, id)
}

const changed = (
  before: readonly string[] = [],
  {
    all,
    add = [],
    remove = [],
  }: { all: readonly string[] | undefined; add: readonly string[] | undefined; remove: readonly string[] | undefined },
): string[] => [...(all ?? before), ...add].filter((id) => !remove.includes(id))

const mergedMetadata = (
  before: Readonly<JsonObject> = {},
  { metadata = {}, remove_metadata_keys: gone = [] }: TaskEdit,
): JsonObject => Object.fromEntries(Object.entries({ ...before, ...metadata }).filter(([key]) => !gone.includes(key)))

/** How a task of a runner ends and what it puts out is not for others to say. */
const checkDriven = ({ id, runner }: SessionTask, { status, output }: TaskEdit): void => {
  if (runner === undefined) return
  if (status !== undefined) throw taskErrors.task_driven({ details: { task_id: id, field: 'status' } })
  if (output !== undefined) throw taskErrors.task_driven({ details: { task_id: id, field: 'output' } })
}

const withoutEmpty = ({ owner_agent_id = '', output = '', ...task }: SessionTask): SessionTask => ({
  ...task,
  ...(owner_agent_id !== '' && { owner_agent_id }),
  ...(output !== '' && { output }),
})

export interface Update {
  readonly max_open: number
  readonly edit: TaskEdit
}

export const updateTask = (set: TaskSet, id: string, { max_open, edit }: Update): SessionTask => {
  const before = getTask(set, id)
  checkDriven(before, edit)
  checkKeys([...Object.keys(edit.metadata ?? {}), ...(edit.remove_metadata_keys ?? [])])
  const {
    title = before.title,
    description = before.description,
    status = before.status,
    owner_agent_id = before.owner_agent_id,
    output = before.output,
  } = edit
  const next = {
    ...before,
    title: title.trim(),
    description,
    status,
    metadata: fitting(mergedMetadata(before.metadata, edit)),
  }
  if (before.runner === undefined && !hasEnded(next)) checkTitle(set, next)
  if (hasEnded(before) && !hasEnded(next)) checkRoom(set, max_open)
  set.put(
    withoutEmpty({
      ...next,
      ...(owner_agent_id !== undefined && { owner_agent_id }),
      ...(output !== undefined && { output }),
    }),
  )
  link(set, id, {
    blocked_by: changed(before.blocked_by, {
      all: edit.blocked_by,
      add: edit.add_blocked_by,
      remove: edit.remove_blocked_by,
    }),
    blocks: changed(before.blocks, { all: edit.blocks, add: edit.add_blocks, remove: edit.remove_blocks }),
  })
  return getTask(set, id)
}

/** Ends a task that only the model works on; one that has ended stays as it is. */
export const cancelTask = (set: TaskSet, id: string, reason: string | undefined): SessionTask => {
  const task = getTask(set, id)
  if (hasEnded(task)) return task
  set.put({
    ...task,
    status: 'cancelled',
    metadata: { ...task.metadata, terminal_reason: 'stopped', ...(reason !== undefined && { stop_reason: reason }) },
  })
  return getTask(set, id)
}

/** Hides a task and takes it out of every dependency. */
export const deleteTask = (set: TaskSet, id: string, note: string | undefined): SessionTask => {
  const task = getTask(set, id)
  if (task.runner !== undefined && !hasEnded(task)) throw taskErrors.task_in_progress({ details: { task_id: id } })
  link(set, id, { blocked_by: [], blocks: [] })
  const gone = {
    ...getTask(set, id),
    archived: { reason: 'deleted' as const, at_ms: set.now, ...(note !== undefined && { note }) },
  }
  set.put(gone)
  return gone
}
