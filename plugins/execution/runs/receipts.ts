/** Idempotency keys: a key is recorded in the commit of its effect, so one without the other never exists. */
import { type Tx, digest, idempotencyErrors } from '../../../core/plugin.js'
import type { ReceiptKey, RunRecord } from './contract.js'
import type { RunStore } from './store.js'

const idOf = (receipt: ReceiptKey): string => digest([receipt.scope, receipt.key])

/** The run that an earlier request with this key led to. */
export const replayed = (store: RunStore, receipt: ReceiptKey | undefined): RunRecord | undefined => {
  const known = receipt === undefined ? undefined : store.receipts.find(idOf(receipt))
  if (known === undefined) return undefined
  if (known.digest !== receipt?.digest) throw idempotencyErrors.idempotency_conflict()
  return store.runs.find(known.run_id)
}

/** Records the key beside its effect. */
export const claim = (
  store: RunStore,
  tx: Tx,
  { receipt, run_id }: { receipt: ReceiptKey | undefined; run_id: string },
): void => {
  if (receipt !== undefined)
    tx.insert(store.receipts, { id: idOf(receipt), digest: receipt.digest, run_id, at: tx.now })
}
