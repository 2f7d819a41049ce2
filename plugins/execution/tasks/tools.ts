import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  integer,
  jsonObject,
  object,
  optional,
  Problem,
  string,
  type Clock,
  type Ids,
  type Json,
  notBlank,
} from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool, type ToolCall, type ToolOutcome } from '../tools/contract.js'
import { tellAssigned, type AssignParts } from './assigned.js'
import { cancelTask, createTask, deleteTask, getTask, updateTask } from './changes.js'
import { taskStatuses } from './contract.js'
import { openSet, type TaskSet } from './graph.js'
import { defaultTailBytes, readOutput, type OutputParts } from './output.js'
import { stopTask, type StopParts } from './stop.js'
import { hasEnded, viewTask, type TaskStore } from './store.js'

export interface TaskToolParts extends OutputParts, StopParts, AssignParts {
  readonly clock: Clock
  readonly ids: Ids
  /** Most open tasks of a session. */
  readonly max_open: number
}

const Id = string({ min: 1, max: 200 })
const Refs = (sentence: string) => optional(doc(array(Id, { max: 100 }), sentence))
const Title = doc(
  string({ min: 1, max: 200, pattern: notBlank }),
  'What is to be done, in a few words. No two open tasks have the same.',
)
const Description = optional(string({ max: 20_000 }))
const Owner = optional(doc(string({ max: 200 }), 'The agent that works on it.'))
const Metadata = optional(doc(jsonObject(), 'Whatever else is to be kept with it.'))
const Reason = optional(string({ max: 4000 }))
const byId = object({ task_id: Id })

/**
 * Tasks change in the commit of the call's outcome, so a repetition after a crash finds nothing done: no intent is
 * needed before.
 */
const own = { effect: 'read', parallel: false, timeout_ms: 10_000, sandbox: 'inherited' } as const
const looking = { effect: 'read', parallel: true, timeout_ms: 10_000, sandbox: 'inherited' } as const

const answer = (output: Json): Extract<ToolOutcome, { type: 'result' }> => ({
  type: 'result',
  output,
})

const orFailed = async (work: () => Promise<ToolOutcome> | ToolOutcome): Promise<ToolOutcome> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem) return failedCall(error)
    throw error
  }
}

/** Tries a change for its answer, and makes it in the commit of the outcome, on what is true then. */
const changing = (
  parts: TaskToolParts,
  { session_id }: ToolCall,
  change: (set: TaskSet) => Json,
): Promise<ToolOutcome> =>
  orFailed(() => {
    const { store, clock } = parts
    const now = clock.now()
    return {
      ...answer(change(openSet(store, session_id, now))),
      apply: (tx) => {
        const set = openSet(store, session_id, now)
        change(set)
        for (const task of set.changed()) {
          tellAssigned(parts, tx, task)
          store.put(tx, task)
        }
      },
    }
  })

/** Tasks that are shown once the set is written. */
const countAfter = ({ session_id, changed }: TaskSet, store: TaskStore): number =>
  store.count(session_id) +
  changed().reduce(
    (sum, { id, archived }) =>
      sum + (archived === undefined ? 1 : 0) - (store.find(session_id, id) === undefined ? 0 : 1),
    0,
  )

export const taskTools = (parts: TaskToolParts): readonly Tool[] => [
  create(parts),
  get(parts),
  list(parts),
  output(parts),
  update(parts),
  stop(parts),
  remove(parts),
]

const create = (parts: TaskToolParts): Tool =>
  defineTool({
    name: 'task_create',
    seldom: true,
    description: 'Adds a task to what this session has to do. Dependencies name other tasks of the session by id.',
    input: object({
      title: Title,
      description: Description,
      owner_agent_id: Owner,
      metadata: Metadata,
      blocked_by: Refs('Tasks that must end before it.'),
      blocks: Refs('Tasks that wait for it.'),
    }),
    ...own,
    run: (task, call) => {
      const id = parts.ids.make('task')
      return changing(parts, call, (set) => {
        const made = createTask(set, { id, run_id: call.run_id, max_open: parts.max_open, task })
        return { task: viewTask(made), task_count: countAfter(set, parts.store) }
      })
    },
  })

const get = ({ store }: TaskToolParts): Tool =>
  defineTool({
    name: 'task_get',
    seldom: true,
    description: 'Reads one task of this session.',
    input: byId,
    ...looking,
    run: ({ task_id }, { session_id }) =>
      orFailed(() => answer(viewTask(getTask({ find: (id) => store.find(session_id, id) }, task_id)))),
  })

/** Tasks in one answer that have ended. */
const mostEnded = 128

const list = ({ store }: TaskToolParts): Tool =>
  defineTool({
    name: 'task_list',
    seldom: true,
    description:
      'Lists the tasks of this session, all or those in one status: all that are open, and of those that have ended ' +
      `the ${mostEnded} that changed last. If there are more, the last item says how many.`,
    input: object({ status: optional(enums(taskStatuses)) }),
    ...looking,
    run: ({ status }, { session_id }) => {
      const statuses = status === undefined ? taskStatuses : [status]
      const { tasks, older } = store.list(session_id, { statuses, most_ended: mostEnded })
      const note = 'Tasks that ended earlier are not in this list; task_get reads one by its id.'
      return answer([...tasks.map(viewTask), ...(older > 0 ? [{ older_tasks: older, note }] : [])])
    },
  })

const output = (parts: TaskToolParts): Tool =>
  defineTool({
    name: 'task_output',
    description:
      'Reads what a task of this session has put out, by default when it has ended. A wait that is over changes ' +
      'nothing for the task.',
    input: object({
      task_id: Id,
      wait: defaulted(doc(boolean(), 'Waits for the end of the task.'), true),
      timeout_ms: defaulted(doc(integer({ min: 0, max: 110_000 }), 'Longest wait, milliseconds.'), 30_000),
      tail_bytes: defaulted(
        doc(integer({ min: 0 }), 'Bytes of the end that are shown, at most 262144.'),
        defaultTailBytes,
      ),
      full: defaulted(doc(boolean(), 'Adds all that is kept of the output.'), false),
    }),
    ...looking,
    timeout_ms: 120_000,
    run: ({ task_id, ...query }, { session_id, signal }) =>
      orFailed(async () => answer(await readOutput(parts, { session_id, task_id }, { ...query, signal }))),
  })

const update = (parts: TaskToolParts): Tool =>
  defineTool({
    name: 'task_update',
    seldom: true,
    description:
      'Changes a task of this session: members that are given replace what was there, metadata is merged, an ' +
      'empty text clears.',
    input: object({
      task_id: Id,
      title: optional(Title),
      description: Description,
      status: optional(enums(taskStatuses)),
      owner_agent_id: Owner,
      output: optional(doc(string({ max: 65_536 }), 'What came of the task.')),
      metadata: Metadata,
      remove_metadata_keys: optional(array(string({ max: 200 }), { max: 100 })),
      blocked_by: Refs('Replaces the tasks that must end before it.'),
      add_blocked_by: Refs('Adds to them.'),
      remove_blocked_by: Refs('Takes away from them.'),
      blocks: Refs('Replaces the tasks that wait for it.'),
      add_blocks: Refs('Adds to them.'),
      remove_blocks: Refs('Takes away from them.'),
    }),
    ...own,
    run: ({ task_id, ...edit }, call) =>
      changing(parts, call, (set) => ({
        task: viewTask(updateTask(set, task_id, { max_open: parts.max_open, edit })),
      })),
  })

/** How long a call waits until what was stopped has ended, milliseconds. */
const endWait = 15_000

/** Stopping twice is stopping once; a command that runs is stopped outside, so the intent comes first. */
const stop = (parts: TaskToolParts): Tool =>
  defineTool({
    name: 'task_stop',
    description: 'Stops a task of this session with everything that it has started, and waits for its end.',
    input: object({ task_id: Id, reason: Reason }),
    ...own,
    effect: 'idempotent',
    permission: 'allow',
    timeout_ms: 30_000,
    run: ({ task_id, reason }, call) => {
      const task = parts.store.find(call.session_id, task_id)
      if (task?.runner === undefined)
        return changing(parts, call, (set) => ({ task: viewTask(cancelTask(set, task_id, reason)) }))
      return orFailed(async () => {
        const asked = await stopTask(parts, { session_id: call.session_id, task_id, reason })
        if (!hasEnded(asked)) await parts.waits.until(task_id, { timeout_ms: endWait, signal: call.signal })
        return answer({ task: viewTask(parts.store.find(call.session_id, task_id) ?? asked) })
      })
    },
  })

const remove = (parts: TaskToolParts): Tool =>
  defineTool({
    name: 'task_delete',
    seldom: true,
    description: 'Deletes a task of this session: it is no longer shown, and no task depends on it any more.',
    input: object({ task_id: Id, reason: Reason }),
    ...own,
    run: ({ task_id, reason }, call) =>
      changing(parts, call, (set) => {
        const task = viewTask(deleteTask(set, task_id, reason))
        return { task, task_count: countAfter(set, parts.store) }
      }),
  })
