/** Acts of a plugin that no run does: those that the ledger knows and whose outcome it does not. */
import {
  object,
  string,
  type Collection,
  type CollectionSpec,
  type RepairStep,
  type State,
  type Tx,
} from '../../../core/plugin.js'

/** How an act ended, as the ledger takes it. */
interface Ending {
  readonly outcome: 'done' | 'failed' | 'unknown'
  readonly code?: string
}
interface Ledger {
  conclude(tx: Tx, outcome: OpenCall & Ending & { readonly attempt: number }): void
}

/** One that is under way. */
export type OpenCall = { readonly action_id: string; readonly session_id: string }

const specOf = (name: string): CollectionSpec<OpenCall> => ({
  name,
  version: 1,
  id: ({ action_id }) => action_id,
  indexes: { all: { group: () => 'all' } },
  removed: 'forgotten',
  schema: object({ action_id: string(), session_id: string() }),
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
})

/** What of a plugin is under way. After a kill nobody can tell what it did. */
export interface OpenCalls {
  readonly collection: Collection<OpenCall>
  /** Part of the commit with the intent. */
  begin(tx: Tx, call: OpenCall): void
  conclude(tx: Tx, call: OpenCall, ending: Ending): void
  /** Concludes as `unknown` what an earlier life of the daemon began. */
  readonly repair: RepairStep<OpenCall>
}

/** `name` is that of the collection, such as `hook_calls`; the step is named after it. */
export const declareOpenCalls = (
  state: State,
  ledger: () => Ledger | undefined,
  { name, step }: { readonly name: string; readonly step: string },
): OpenCalls => {
  const collection = state.collection(specOf(name))
  const conclude: OpenCalls['conclude'] = (tx, { action_id, session_id }, ending) => {
    ledger()?.conclude(tx, { action_id, session_id, attempt: 1, ...ending })
    tx.remove(collection, action_id, 'concluded')
  }
  return {
    collection,
    begin: (tx, { action_id, session_id }) => tx.insert(collection, { action_id, session_id }),
    conclude,
    repair: {
      id: step,
      check: () => collection.ids('all', 'all').flatMap((id) => collection.find(id) ?? []),
      fix: (found) =>
        state.commit((tx) => {
          for (const call of found) conclude(tx, call, { outcome: 'unknown', code: 'daemon_restarted' })
        }),
    },
  }
}
