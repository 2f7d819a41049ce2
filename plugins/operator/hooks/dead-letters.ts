/** Invocations that failed for good, until somebody has looked at them. */
import {
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type State,
  type Tx,
} from '../../../core/plugin.js'

export const DeadLetter = named(
  'HookDeadLetter',
  object({
    id: string(),
    at_ms: timestamp(),
    hook_name: string(),
    event: string(),
    subject: optional(string()),
    session_id: optional(string()),
    run_id: optional(string()),
    target: doc(string(), 'What was asked, without what may be secret.'),
    attempt_count: integer({ min: 1 }),
    failure_mode: enums(['open', 'closed']),
    contract_version: integer(),
    invocation_digest: doc(string(), 'SHA-256 of what it was asked.'),
    definition_digest: doc(string(), 'SHA-256 of the hook as it was set.'),
    error: string(),
    resolved_at_ms: optional(timestamp()),
    resolution_reason: optional(string()),
  }),
)
export type DeadLetter = Infer<typeof DeadLetter>

/** The oldest fall when there are more. */
export const mostDeadLetters = 1_000

const deadLetters: CollectionSpec<DeadLetter> = {
  name: 'hook_dead_letters',
  version: 1,
  id: ({ id }) => id,
  indexes: {
    all: { group: () => 'all', sort: ({ at_ms }) => timeKey(at_ms) },
    unresolved: {
      group: ({ resolved_at_ms }) => (resolved_at_ms === undefined ? 'all' : undefined),
      sort: ({ at_ms }) => timeKey(at_ms),
    },
  },
  settled: ({ resolved_at_ms }) => resolved_at_ms !== undefined,
  removed: 'forgotten',
  bounded: { hook_dead_letters: `the newest ${mostDeadLetters}` },
  schema: DeadLetter,
}

export interface DeadLetters {
  readonly collection: Collection<DeadLetter>
  add(tx: Tx, letter: DeadLetter): void
  resolve(tx: Tx, letter: DeadLetter, reason: string | undefined): void
  list(): DeadLetter[]
  unresolved(): DeadLetter[]
  newest(index: 'all' | 'unresolved'): DeadLetter | undefined
}

export const declareDeadLetters = (state: State): DeadLetters => {
  const collection = state.collection(deadLetters)
  const list = (index: 'all' | 'unresolved', limit: number, order: 'asc' | 'desc') =>
    collection.list({ index, group: 'all', limit, order })
  return {
    collection,
    add(tx, letter) {
      tx.insert(collection, letter)
      const over = collection.count('all', 'all') - mostDeadLetters
      if (over > 0) for (const { id } of list('all', over, 'asc')) tx.remove(collection, id, 'bound')
    },
    resolve: (tx, letter, reason) =>
      tx.put(
        collection,
        Object.assign({}, letter, { resolved_at_ms: tx.now }, reason !== undefined && { resolution_reason: reason }),
      ),
    list: () => list('all', mostDeadLetters, 'desc'),
    unresolved: () => list('unresolved', mostDeadLetters, 'desc'),
    newest: (index) => list(index, 1, 'desc')[0],
  }
}
