/** Questions that wait for the answer of a parent, one of an agent at a time; what is settled is gone. */
import {
  integer,
  object,
  string,
  type Collection,
  type CollectionSpec,
  type State,
  type Tx,
} from '../../../core/plugin.js'

/** Times in Unix ms. */
export interface Clarification {
  /** The run in the parent's session. */
  readonly run_id: string
  readonly request_id: string
  readonly requester_agent_id: string
  readonly requester_session_id: string
  readonly parent_agent_id: string
  readonly parent_session_id: string
  readonly asked_at_ms: number
}

const clarificationCollection: CollectionSpec<Clarification> = {
  name: 'clarifications',
  version: 1,
  id: ({ requester_session_id }) => requester_session_id,
  indexes: {
    all: { group: () => 'all' },
    run: { group: ({ run_id }) => run_id },
    parent: { group: ({ parent_session_id }) => parent_session_id, sort: ({ run_id }) => run_id },
  },
  removed: 'forgotten',
  schema: object({
    run_id: string(),
    request_id: string(),
    requester_agent_id: string(),
    requester_session_id: string(),
    parent_agent_id: string(),
    parent_session_id: string(),
    asked_at_ms: integer(),
  }),
  references: ({ requester_session_id, parent_session_id }) =>
    [requester_session_id, parent_session_id].map((id) => ({ collection: 'sessions', id })),
}

export interface ClarificationStore {
  readonly collection: Collection<Clarification>
  /** That of an agent, by its session. */
  find(requester_session_id: string): Clarification | undefined
  ofRun(run_id: string): Clarification | undefined
  /** Those that a parent is asked, by its session. */
  askedOf(parent_session_id: string): readonly Clarification[]
  all(): readonly Clarification[]
  open(tx: Tx, clarification: Clarification): void
  close(tx: Tx, clarification: Clarification): void
}

export const declareClarifications = (state: State): ClarificationStore => {
  const collection = state.collection(clarificationCollection)
  const read = (ids: readonly string[]): readonly Clarification[] => ids.flatMap((id) => collection.find(id) ?? [])
  return {
    collection,
    find: (id) => collection.find(id),
    ofRun: (run_id) => read(collection.ids('run', run_id))[0],
    askedOf: (session_id) => read(collection.ids('parent', session_id)),
    all: () => read(collection.ids('all', 'all')),
    open: (tx, clarification) => tx.insert(collection, clarification),
    close: (tx, { requester_session_id }) => tx.remove(collection, requester_session_id, 'it is settled'),
  }
}
