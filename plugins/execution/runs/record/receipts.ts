/**
 * Idempotency keys that were used: each is written in the commit of its effect, so that one without the other never
 * exists.
 */
import { type Tx, digest, idempotencyErrors } from '../../../../core/plugin.js'
import { absentRun } from './get-run.js'
import type { RunRecord } from './run-record.js'
import type { RunStore } from './store.js'

/**
 * Names a request once: the same key with the same digest gives the same run (http-17 and runs-15).
 */
export interface ReceiptKey {
  readonly scope: string
  readonly key: string
  readonly digest: string
}

const receiptId = ({ scope, key }: Pick<ReceiptKey, 'scope' | 'key'>): string => digest([scope, key])

/**
 * The run that an earlier request with this key led to. Throws `run_expired` where that fell: the key still names it,
 * so that nothing is done twice.
 */
export const replayed = (store: RunStore, receipt: ReceiptKey | undefined): RunRecord | undefined => {
  const known = receipt === undefined ? undefined : store.receipts.find(receiptId(receipt))
  if (known === undefined) return undefined
  if (known.digest !== receipt?.digest) throw idempotencyErrors.idempotency_conflict()
  const run = store.runs.find(known.run_id)
  if (run === undefined && store.runs.hasFallen(known.run_id)) throw absentRun(store, known.run_id)
  return run
}

/** What an earlier request under this key led to, whatever it said; undefined if the key is new. */
export const findReceipt = (
  store: Pick<RunStore, 'receipts'>,
  named: Pick<ReceiptKey, 'scope' | 'key'>,
): UsedReceipt | undefined => store.receipts.find(receiptId(named))

/** What is kept of a key that was used. */
export interface UsedReceipt {
  readonly run_id: string
  /** Of the request that used it first. */
  readonly digest: string
}

export const isUsed = (store: Pick<RunStore, 'receipts'>, receipt: ReceiptKey): boolean =>
  store.receipts.has(receiptId(receipt))

/** Records the key beside its effect. */
export const recordReceipt = (
  store: RunStore,
  tx: Tx,
  { receipt, run_id }: { receipt: ReceiptKey | undefined; run_id: string },
): void => {
  if (receipt !== undefined)
    tx.insert(store.receipts, { id: receiptId(receipt), digest: receipt.digest, run_id, at: tx.now })
}
