import {
  boolean,
  collectionSource,
  defaulted,
  defineRoute,
  doc,
  enums,
  integer,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { SessionId, sessionErrors, type Sessions } from '../sessions/contract.js'
import { getTask } from './changes.js'
import { taskErrors, TaskOutputView, TaskRecord, taskStatuses } from './contract.js'
import { defaultTailBytes, readOutput, type OutputParts } from './output.js'
import { stopTask, type StopParts } from './stop.js'
import { statusGroup, viewTask } from './store.js'

export interface TaskRouteParts extends OutputParts, StopParts {
  readonly sessions: Sessions
  readonly skip: Skip
}

/** Longest wait for the end of a task, milliseconds. */
const longestWait = 600_000

const params = object({ session_id: SessionId, task_id: string({ min: 1, max: 200 }) })
const problems = [sessionErrors.session_not_found, taskErrors.task_not_found]

export const taskRoutes = (parts: TaskRouteParts): readonly Route[] => [
  list(parts),
  get(parts),
  output(parts),
  stop(parts),
]

const list = ({ sessions, store, skip }: TaskRouteParts): Route =>
  defineRoute({
    id: 'sessions.tasks.list',
    method: 'GET',
    path: '/v1/sessions/:session_id/tasks',
    summary: 'Lists the tasks of a session.',
    access: 'read',
    params: object({ session_id: SessionId }),
    query: object({ status: optional(enums(taskStatuses)), ...pageFields }),
    reply: jsonReply(pageOf(TaskRecord)),
    problems: [sessionErrors.session_not_found, ...pageProblems],
    handler: ({ params: { session_id }, query }) => {
      sessions.get(session_id)
      const source =
        query.status === undefined
          ? collectionSource(store.tasks, 'session', session_id)
          : collectionSource(store.tasks, 'session_status', statusGroup(session_id, query.status))
      return listPage({ query, source, label: 'task_id_asc', view: viewTask, skip })
    },
  })

const get = ({ sessions, store }: TaskRouteParts): Route =>
  defineRoute({
    id: 'sessions.tasks.get',
    method: 'GET',
    path: '/v1/sessions/:session_id/tasks/:task_id',
    summary: 'Reads one task of a session.',
    access: 'read',
    params,
    reply: jsonReply(TaskRecord),
    problems,
    handler: ({ params: { session_id, task_id } }) => {
      sessions.get(session_id)
      return viewTask(getTask({ find: (id) => store.find(session_id, id) }, task_id))
    },
  })

const output = (parts: TaskRouteParts): Route =>
  defineRoute({
    id: 'sessions.tasks.output',
    method: 'GET',
    path: '/v1/sessions/:session_id/tasks/:task_id/output',
    summary: 'Reads what a task has put out, at once or when it has ended.',
    access: 'read',
    params,
    query: object({
      wait: defaulted(doc(boolean(), 'Waits for the end of the task.'), false),
      timeout_ms: defaulted(doc(integer({ min: 0, max: longestWait }), 'Longest wait, milliseconds.'), 0),
      tail_bytes: defaulted(
        doc(integer({ min: 0 }), 'Bytes of the end that are shown, at most 262144.'),
        defaultTailBytes,
      ),
      full: defaulted(doc(boolean(), 'Adds all that is kept of the output.'), false),
    }),
    reply: jsonReply(TaskOutputView),
    problems,
    handler: ({ params: { session_id, task_id }, query, signal }) => {
      parts.sessions.get(session_id)
      return readOutput(parts, { session_id, task_id }, { ...query, signal })
    },
  })

const stop = (parts: TaskRouteParts): Route =>
  defineRoute({
    id: 'sessions.tasks.stop',
    method: 'POST',
    path: '/v1/sessions/:session_id/tasks/:task_id/stop',
    summary: 'Stops a task. A command that runs stays in progress until all its processes are gone.',
    access: 'admin',
    params,
    body: object({ reason: optional(string({ max: 4000 })) }),
    reply: jsonReply(TaskRecord),
    problems,
    durability: 'A',
    example: { body: { reason: 'No longer needed.' } },
    handler: async ({ params: { session_id, task_id }, body: { reason } }) => {
      parts.sessions.get(session_id)
      return viewTask(await stopTask(parts, { session_id, task_id, reason }))
    },
  })
