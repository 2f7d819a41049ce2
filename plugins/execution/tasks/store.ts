/** Tasks by id, and the to-do list of a session: one record, replaced as a whole. */
import {
  array,
  boolean,
  enums,
  integer,
  jsonObject,
  literal,
  object,
  optional,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import {
  taskStatuses,
  type MadePage,
  type SessionTask,
  type TaskRecord,
  type TaskStatus,
  type Todo,
} from './contract.js'

export type TodoRecord = {
  readonly session_id: string
  readonly todos: readonly Todo[]
  readonly updated_at_ms: number
}

const todoLists: CollectionSpec<TodoRecord> = {
  name: 'todos',
  version: 2,
  id: ({ session_id }) => session_id,
  indexes: {},
  settled: () => true,
  schema: object({
    session_id: string(),
    todos: array(object({ id: string(), content: string(), completed: boolean() })),
    updated_at_ms: timestamp(),
  }),
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

const terminal: ReadonlySet<TaskStatus> = new Set(['completed', 'failed', 'cancelled'])
export const hasEnded = ({ status }: Pick<SessionTask, 'status'>): boolean => terminal.has(status)

/** Tasks that are shown: all but deleted ones. */
const shown =
  <T>(of: (task: SessionTask) => T) =>
  (task: SessionTask): T | undefined =>
    task.archived === undefined ? of(task) : undefined
const open = <T>(of: (task: SessionTask) => T) => shown((task) => (hasEnded(task) ? undefined : of(task)))

/** The group of the tasks of a session in one status. A status has no space in it. */
export const statusGroup = (session_id: string, status: TaskStatus): string => `${status} ${session_id}`
const titleGroup = (session_id: string, title: string): string => JSON.stringify([session_id, title])

const madeKey = ({ created_at_ms, id }: SessionTask): string => `${timeKey(created_at_ms)}${id}`

const taskRecords: CollectionSpec<SessionTask> = {
  name: 'tasks',
  version: 2,
  id: ({ id }) => id,
  indexes: {
    session: { group: shown(({ session_id }) => session_id) },
    session_status: { group: shown(({ session_id, status }) => statusGroup(session_id, status)) },
    status: { group: shown(({ status }) => status) },
    open: { group: open(({ session_id }) => session_id) },
    ended: {
      group: shown((task) => (hasEnded(task) ? statusGroup(task.session_id, task.status) : undefined)),
      sort: ({ updated_at_ms }) => String(updated_at_ms).padStart(20, '0'),
    },
    title: {
      group: open(({ session_id, title, runner }) =>
        runner === undefined ? titleGroup(session_id, title) : undefined,
      ),
    },
    made: { group: shown(({ session_id }) => session_id), sort: madeKey },
    runner: { group: open(({ runner }) => runner) },
    driven: { group: shown(({ runner }) => runner) },
  },
  settled: (task) => task.archived !== undefined || hasEnded(task),
  schema: object({
    id: string(),
    session_id: string(),
    title: string(),
    description: string(),
    status: enums(taskStatuses),
    owner_agent_id: optional(string()),
    blocked_by: optional(array(string())),
    blocks: optional(array(string())),
    output: optional(string()),
    metadata: optional(jsonObject()),
    created_at_ms: integer(),
    updated_at_ms: integer(),
    runner: optional(string()),
    archived: optional(object({ reason: literal('deleted'), note: optional(string()), at_ms: integer() })),
  }),
  references: ({ session_id, blocked_by = [], blocks = [] }) => [
    { collection: 'sessions', id: session_id },
    ...[...blocked_by, ...blocks].map((id) => ({ collection: 'tasks', id })),
  ],
}

export interface TaskQuery {
  readonly statuses: readonly TaskStatus[]
  /** Most tasks that have ended. */
  readonly most_ended: number
}
export interface TaskList {
  readonly tasks: SessionTask[]
  /** Tasks that have ended and are left out. */
  readonly older: number
}

export interface TaskStore {
  readonly tasks: Collection<SessionTask>
  readonly todoLists: Collection<TodoRecord>
  /** A task that is shown in this session. */
  find(session_id: string, id: string): SessionTask | undefined
  /** Tasks of a session in these statuses by id: all that are open, and of those that ended the newest. */
  list(session_id: string, query: TaskQuery): TaskList
  /** Tasks that are shown. */
  count(session_id: string): number
  countOpen(session_id: string): number
  /** The open task of a session with this title. */
  titled(session_id: string, title: string): string | undefined
  /** As `Tasks.madeIn`. */
  madeIn(session_id: string, page: MadePage): SessionTask[]
  /** Tasks of a session that have not ended. */
  openIn(session_id: string): SessionTask[]
  /** Tasks of a runner that have not ended. */
  openOf(runner: string): SessionTask[]
  /** Ids of the newest tasks of a runner, ended ones included. */
  newestOf(runner: string, limit: number): string[]
  put(tx: Tx, task: SessionTask): void
}

/** Whoever is called when a change is durable. */
export interface TaskListeners {
  readonly ended: (id: string) => void
  readonly changed: (task: SessionTask, before: SessionTask | undefined) => void
}

export const declareStore = (state: State, { ended, changed }: TaskListeners): TaskStore => {
  const tasks = state.collection(taskRecords)
  const all = (index: string, group: string): SessionTask[] =>
    tasks.list({ index, group, limit: tasks.count(index, group) })
  return {
    tasks,
    todoLists: state.collection(todoLists),
    find: (session_id, id) => {
      const task = tasks.find(id)
      return task?.session_id === session_id && task.archived === undefined ? task : undefined
    },
    list: (session_id, { statuses, most_ended }) => {
      const groups = (ended: boolean): string[] =>
        statuses.filter((status) => hasEnded({ status }) === ended).map((status) => statusGroup(session_id, status))
      const newest = groups(true)
        .flatMap((group) => tasks.list({ index: 'ended', group, order: 'desc', limit: most_ended }))
        .toSorted((a, b) => b.updated_at_ms - a.updated_at_ms)
        .slice(0, most_ended)
      const going = groups(false).flatMap((group) => all('session_status', group))
      const ended = groups(true).reduce((sum, group) => sum + tasks.count('ended', group), 0)
      return {
        tasks: [...going, ...newest].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
        older: ended - newest.length,
      }
    },
    count: (session_id) => tasks.count('session', session_id),
    countOpen: (session_id) => tasks.count('open', session_id),
    titled: (session_id, title) => tasks.page({ index: 'title', group: titleGroup(session_id, title), limit: 1 })[0],
    madeIn: (session_id, { since_ms, until_ms = Infinity, limit, beyond }) =>
      tasks
        .list({
          index: 'made',
          group: session_id,
          limit,
          beyond: beyond === undefined ? timeKey(since_ms) : madeKey(beyond),
        })
        .filter(({ created_at_ms }) => created_at_ms <= until_ms),
    openIn: (session_id) => all('open', session_id),
    openOf: (runner) => all('runner', runner),
    newestOf: (runner, limit) => tasks.page({ index: 'driven', group: runner, limit, order: 'desc' }).toReversed(),
    put: (tx, task) => {
      const before = tasks.find(task.id)
      tx.put(tasks, task)
      tx.after(() => changed(task, before))
      if (hasEnded(task)) tx.after(() => ended(task.id))
    },
  }
}

/** The wire form: what is empty is left out. */
export const viewTask = ({
  id,
  title,
  description,
  status,
  owner_agent_id,
  blocked_by = [],
  blocks = [],
  output = '',
  metadata = {},
  created_at_ms,
  updated_at_ms,
}: SessionTask): TaskRecord => ({
  id,
  title,
  description,
  status,
  ...(owner_agent_id !== undefined && { owner_agent_id }),
  ...(blocked_by.length > 0 && { blocked_by: [...blocked_by] }),
  ...(blocks.length > 0 && { blocks: [...blocks] }),
  ...(output !== '' && { output }),
  ...(Object.keys(metadata).length > 0 && { metadata: { ...metadata } }),
  created_at_ms,
  updated_at_ms,
})
