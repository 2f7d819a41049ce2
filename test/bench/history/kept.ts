/** The state of a root as the daemon's plugins declare it, without a daemon, and at any time of day. */
import type { Clock } from '../../../core/base/clock.js'
import type { State, Tx } from '../../../core/state/contract.js'
import { declareStore as declareDeliveries } from '../../../plugins/execution/deliveries/store.js'
import { declareStore as declareLedger } from '../../../plugins/execution/external-actions/store.js'
import { declareStore as declareMemory } from '../../../plugins/execution/memory/recording/store.js'
import { declareStore as declareRuns } from '../../../plugins/execution/runs/record/store.js'
import { sessionJournal } from '../../../plugins/execution/sessions/record/journal.js'
import { sessionCollection } from '../../../plugins/execution/sessions/record/store.js'
import { takeRoot } from '../../support/taken-root.js'
import type { Clone } from './clone.js'

const declareAll = (state: State) => {
  const journal = state.stream(sessionJournal)
  return {
    sessions: state.collection(sessionCollection),
    runs: declareRuns(state, { journal }),
    outbox: declareDeliveries(state),
    ledger: declareLedger(state),
    memory: declareMemory(state),
  }
}
export type Stores = ReturnType<typeof declareAll>

/** No checkpoint comes by itself: whoever writes asks for them, so that no more waits in memory than one takes. */
export const holdKept = async (root: string, clock: Clock) => {
  const taken = await takeRoot(root, { at: clock, tuning: { segmentBytes: Number.MAX_SAFE_INTEGER } })
  const stores = declareAll(taken.state)
  await taken.load()
  return { ...taken, stores, close: taken.end }
}
export type Kept = Awaited<ReturnType<typeof holdKept>>

/** Says what a daemon would look through all of history for, once: it is there as the daemon leaves it behind. */
export const sayCarried = async ({ state }: Pick<Kept, 'state'>): Promise<void> => {
  await state.document<{ sealed: boolean }>('reply_targets').write({ sealed: true })
  await state.document<{ kept: boolean }>('session_rests').write({ kept: true })
}

export const writeClone = (tx: Tx, { runs, outbox, ledger }: Stores, clone: Clone): void => {
  const { session_id } = clone.run
  for (const entry of clone.journal) tx.append(runs.journal, session_id, entry)
  for (const entry of clone.actions) tx.append(ledger.entries, session_id, entry)
  tx.append(outbox.payloads, session_id, clone.payload)
  tx.insert(runs.runs, clone.run)
  tx.insert(runs.receipts, clone.receipt)
  tx.insert(outbox.deliveries, clone.delivery)
  tx.insert(ledger.ranges, clone.range)
}
