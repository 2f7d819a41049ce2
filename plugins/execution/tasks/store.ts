/** The to-do list of a session: one record, replaced as a whole. */
import { array, boolean, object, string, timestamp } from '../../../core/plugin.js'
import type { Collection, CollectionSpec, State } from '../../../core/plugin.js'

export type Todo = { readonly id: string; readonly content: string; readonly completed: boolean }
export type TodoRecord = { readonly session_id: string; readonly todos: readonly Todo[]; readonly updated_at_ms: number }

const todoLists: CollectionSpec<TodoRecord> = {
  name: 'todos',
  version: 1,
  id: ({ session_id }) => session_id,
  indexes: {},
  schema: object({ session_id: string(), todos: array(object({ id: string(), content: string(), completed: boolean() })), updated_at_ms: timestamp() }),
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

export const declareTodos = (state: State): Collection<TodoRecord> => state.collection(todoLists)
