/** Calls of hooks that the ledger knows and whose outcome it does not: after a kill nobody can tell what they did. */
import {
  object,
  string,
  type Collection,
  type CollectionSpec,
  type RepairStep,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { ActionOutcome, ExternalActions } from '../../execution/external-actions/contract.js'

type HookCall = { readonly action_id: string; readonly session_id: string }

const hookCalls: CollectionSpec<HookCall> = {
  name: 'hook_calls',
  version: 1,
  id: ({ action_id }) => action_id,
  indexes: { all: { group: () => 'all' } },
  removed: 'forgotten',
  schema: object({ action_id: string(), session_id: string() }),
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

export interface HookCalls {
  readonly collection: Collection<HookCall>
  /** Part of the commit with the intent. */
  begin(tx: Tx, call: HookCall): void
  conclude(tx: Tx, call: HookCall, ending: Pick<ActionOutcome, 'outcome' | 'code'>): void
}

export const declareCalls = (state: State, ledger: () => ExternalActions | undefined): HookCalls => {
  const collection = state.collection(hookCalls)
  return {
    collection,
    begin: (tx, { action_id, session_id }) => tx.insert(collection, { action_id, session_id }),
    conclude(tx, { action_id, session_id }, ending) {
      ledger()?.conclude(tx, { action_id, session_id, attempt: 1, ...ending })
      tx.remove(collection, action_id, 'concluded')
    },
  }
}

export const callsRepair = (state: State, { collection, conclude }: HookCalls): RepairStep<HookCall> => ({
  id: 'hooks.calls',
  check: () => collection.ids('all', 'all').flatMap((id) => collection.find(id) ?? []),
  fix: (found) =>
    state.commit((tx) => {
      for (const call of found) conclude(tx, call, { outcome: 'unknown', code: 'daemon_restarted' })
    }),
})
