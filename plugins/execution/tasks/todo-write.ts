import {
  array,
  boolean,
  defaulted,
  doc,
  object,
  optional,
  string,
  type Collection,
  type Infer,
} from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool } from '../tools/contract.js'
import type { Todo } from './contract.js'
import { taskErrors } from './errors.js'
import type { TodoRecord } from './store.js'

const TodoInput = object({
  todos: doc(
    array(
      object({
        id: optional(doc(string({ min: 1, max: 100 }), 'Kept from the list before; made if it is left out.')),
        content: doc(string({ min: 1, max: 2_000 }), 'What is to be done.'),
        completed: defaulted(boolean(), false),
      }),
      { max: 500 },
    ),
    'The whole new list.',
  ),
})
type TodoDraft = Infer<typeof TodoInput>['todos'][number]

/** Gives each item without an id the first free `todo-<n>` from its place on. */
export const withIds = (drafts: readonly TodoDraft[]): Todo[] => {
  const taken = new Set(drafts.flatMap(({ id }) => id ?? []))
  const free = (place: number): string => {
    const id = `todo-${place}`
    return taken.has(id) ? free(place + 1) : id
  }
  return drafts.map(({ id, content, completed }, at) => {
    const made = id ?? free(at + 1)
    taken.add(made)
    return { id: made, content, completed }
  })
}

const repeatedId = (drafts: readonly TodoDraft[]): string | undefined => {
  const ids = drafts.flatMap(({ id }) => id ?? [])
  return ids.find((id, at) => ids.indexOf(id) !== at)
}

/** `idempotent`: the list is replaced in the commit of the outcome, so that an interrupted call has changed nothing. */
export const todoWriteTool = (lists: Collection<TodoRecord>): Tool =>
  defineTool({
    name: 'todo_write',
    description:
      'Replaces the to-do list of this session. Give the whole list each time; mark what is done with completed.',
    input: TodoInput,
    effect: 'idempotent',
    permission: 'allow',
    parallel: false,
    timeout_ms: 10_000,
    sandbox: 'inherited',
    run: ({ todos: drafts }, { session_id }) => {
      const repeated = repeatedId(drafts)
      if (repeated !== undefined) return failedCall(taskErrors.todo_duplicate_id({ details: { id: repeated } }))
      const todos = withIds(drafts)
      return {
        type: 'result',
        output: { todos },
        apply: (tx) => tx.put(lists, { session_id, todos, updated_at_ms: tx.now }),
      }
    },
  })
