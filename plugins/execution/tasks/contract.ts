/** What a session has to do, and what runs behind it. Rules: docs/rules/tasks.md. */
import {
  answerOf,
  array,
  asItIs,
  boolean,
  definePoint,
  hasMembers,
  defineToken,
  doc,
  enums,
  integer,
  jsonObject,
  named,
  object,
  open,
  optional,
  string,
  timestamp,
  withAnswers,
  type Infer,
  type JsonObject,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'

/** Problems about tasks that other plugins may answer with. */
export { taskErrors } from './errors.js'

/** The states of a task (tasks-2). The last three are terminal. */
export const taskStatuses = ['pending', 'in_progress', 'blocked', 'completed', 'failed', 'cancelled'] as const
/** One of `taskStatuses`. */
export type TaskStatus = (typeof taskStatuses)[number]

/** A task as it is shown; members that are empty are left out (tasks-3). */
export const TaskRecord = named(
  'TaskRecord',
  object({
    id: string(),
    title: string(),
    description: string(),
    status: enums(taskStatuses),
    owner_agent_id: optional(doc(string(), 'Id of the agent that owns it.')),
    blocked_by: optional(doc(array(string()), 'Tasks that must end before this one.')),
    blocks: optional(doc(array(string()), 'Tasks that wait for this one.')),
    output: optional(string()),
    metadata: optional(jsonObject()),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
  }),
)
/** The value form of `TaskRecord`. */
export type TaskRecord = Infer<typeof TaskRecord>

/** What the daemon keeps of a task. Times in Unix ms. */
export type SessionTask = {
  readonly id: string
  readonly session_id: string
  readonly title: string
  readonly description: string
  readonly status: TaskStatus
  readonly owner_agent_id?: string
  readonly blocked_by?: readonly string[]
  readonly blocks?: readonly string[]
  readonly output?: string
  readonly metadata?: Readonly<JsonObject>
  readonly created_at_ms: number
  readonly updated_at_ms: number
  /** Kind of the runner that works on it; absent if nothing but the model does. */
  readonly runner?: string
  /** It was deleted: kept, and shown nowhere. */
  readonly archived?: { readonly reason: 'deleted'; readonly note?: string; readonly at_ms: number }
}

/**
 * What a task has put out (tasks-6). `success` means that the task has ended and the view was read, not that the task
 * succeeded.
 */
export const TaskOutputView = named(
  'TaskOutputView',
  object({
    retrieval_status: enums(['success', 'not_ready', 'timeout']),
    task: TaskRecord,
    output_file_path: optional(doc(string(), 'Where the output is on the machine of the daemon.')),
    output_excerpt: doc(string(), 'The end of the output.'),
    output_text: optional(doc(string(), 'All that is kept of the output; only with `full`.')),
    output_truncated: doc(boolean(), 'True if the text that is shown is not the whole output.'),
    output_size_bytes: doc(integer({ min: 0 }), 'Bytes that are kept.'),
    output_total_bytes: doc(integer({ min: 0 }), 'Bytes that were ever put out.'),
    output_rotated: boolean(),
    output_rotation_count: integer({ min: 0 }),
  }),
)
/** The value form of `TaskOutputView`. */
export type TaskOutputView = Infer<typeof TaskOutputView>

/** One item of a to-do list. */
export type Todo = { readonly id: string; readonly content: string; readonly completed: boolean }

/** What is read of an output: its last bytes, and all that is kept if `full`. */
export interface OutputWish {
  readonly tail_bytes: number
  readonly full: boolean
}
/** The members of a `TaskOutputView` that are about the output itself. */
export type TaskOutput = Omit<TaskOutputView, 'retrieval_status' | 'task'>

/** What works behind the tasks of one kind. */
export interface TaskRunner {
  /** The kind, which tasks carry as `runner`. */
  readonly kind: string
  /**
   * Asks for the end of a task in progress. Resolves when that is durable; the task ends later. Asked again while it
   * ends, it changes nothing.
   */
  stop(task: SessionTask, reason: string | undefined): Promise<void>
  /** What the task has put out so far. Must not throw when nothing is left of it. */
  output(task: SessionTask, wish: OutputWish): TaskOutput
}
const { retrieval_status: _status, task: _task, ...outputFields } = TaskOutputView.schema
const noOutput: TaskOutput = {
  output_excerpt: '',
  output_truncated: false,
  output_size_bytes: 0,
  output_total_bytes: 0,
  output_rotated: false,
  output_rotation_count: 0,
}
const mostOutput = 64 * 1024 * 1024
/** The runners of tasks, by kind. */
export const TaskRunners: Point<TaskRunner> = withAnswers(
  definePoint<TaskRunner>(
    'task-runners@1',
    (runner) => runner.kind,
    hasMembers('a runner of tasks', { kind: 'id', stop: 'function', output: 'function' }),
  ),
  { stop: asItIs, output: answerOf(open(outputFields), noOutput, { most: mostOutput }) },
)

/** A task that a runner adds. */
export interface DrivenTask {
  readonly id: string
  readonly session_id: string
  readonly runner: string
  readonly title: string
  readonly description: string
  readonly metadata: JsonObject
}
/** What a runner says of its task: members of `metadata` are added, null takes one away. */
export interface TaskNews {
  readonly status?: TaskStatus
  readonly metadata?: JsonObject
}

/** A part of the tasks of a session. */
export interface MadePage {
  readonly since_ms: number
  readonly until_ms?: number | undefined
  readonly limit: number
  readonly beyond?: SessionTask | undefined
}

/** The tasks of all sessions, for plugins that run or show them. */
export interface Tasks {
  /** Undefined if the session has no such task or it was deleted. */
  find(session_id: string, task_id: string): SessionTask | undefined
  /** Tasks of a session or of a runner that have not ended, by id. */
  listOpen(of: { readonly session_id: string } | { readonly runner: string }): SessionTask[]
  /**
   * Tasks of a session that were made in a stretch of time, Unix ms with both ends, in order of making; behind the task
   * `beyond` if one is named. Deleted ones are left out.
   */
  madeIn(session_id: string, page: MadePage): SessionTask[]
  /** Listens for changes of tasks; called after they are durable. Must not throw. Returns the undo. */
  onChanged(listener: (task: SessionTask) => void): () => void
  /** Ids of the newest tasks of a runner, ended ones included. */
  newest(runner: string, limit: number): string[]
  /** Adds a task in progress in a commit. Throws `task_session_ended` (409). */
  add(tx: Tx, task: DrivenTask): SessionTask
  /** Changes a task in a commit; one that has ended or is gone stays as it is. */
  tell(tx: Tx, task: Pick<SessionTask, 'id' | 'session_id'>, news: TaskNews): void
  /** As the wire shows it. */
  view(task: SessionTask): TaskRecord
  /** The to-do list of a session. */
  todos(session_id: string): readonly Todo[]
}
/** The tasks of all sessions. */
export const Tasks: Token<Tasks> = defineToken<Tasks>('tasks@1')
