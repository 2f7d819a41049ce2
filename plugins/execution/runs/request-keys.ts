/**
 * Keys that a request names: each is written in the commit of its effect, so that one without the other never exists.
 * An idempotency key leads to a run, a binding key to one session for ever.
 */
import { type Tx, digest, idempotencyErrors } from '../../../core/plugin.js'
import type { ReceiptKey, RunRecord } from './contract.js'
import type { RunStore } from './store.js'
import { runErrors } from './errors.js'

const receiptId = (receipt: ReceiptKey): string => digest([receipt.scope, receipt.key])

/** The run that an earlier request with this key led to. */
export const replayed = (store: RunStore, receipt: ReceiptKey | undefined): RunRecord | undefined => {
  const known = receipt === undefined ? undefined : store.receipts.find(receiptId(receipt))
  if (known === undefined) return undefined
  if (known.digest !== receipt?.digest) throw idempotencyErrors.idempotency_conflict()
  return store.runs.find(known.run_id)
}

/** Records the key beside its effect. */
export const recordReceipt = (
  store: RunStore,
  tx: Tx,
  { receipt, run_id }: { receipt: ReceiptKey | undefined; run_id: string },
): void => {
  if (receipt !== undefined)
    tx.insert(store.receipts, { id: receiptId(receipt), digest: receipt.digest, run_id, at: tx.now })
}

const bindingId = (key: string): string => digest(['binding', key])

const trimmed = (key: string, at: number): string => {
  const text = key.trim()
  if (text === '')
    throw runErrors.binding_key_blank({ errors: [{ path: `body.binding_keys.${at}`, rule: 'must not be blank' }] })
  return text
}

/** Trimmed and without repetition. */
export const bindingKeys = (keys: readonly string[]): string[] => [...new Set(keys.map(trimmed))]

/** The session that a key is bound to; undefined if there is none. */
export const sessionOfBinding = (store: RunStore, key: string): string | undefined =>
  store.bindings.find(bindingId(key.trim()))?.session_id

/** Binds keys; throws `binding_conflict` for one that belongs to another session. */
export const bind = (
  store: RunStore,
  tx: Tx,
  { keys, session_id }: { keys: readonly string[]; session_id: string },
): void => {
  for (const key of keys) {
    const id = bindingId(key)
    const known = store.bindings.find(id)
    if (known === undefined) tx.insert(store.bindings, { id, session_id, at: tx.now })
    else if (known.session_id !== session_id)
      throw runErrors.binding_conflict({
        details: { key },
        errors: [{ path: 'body.binding_keys', rule: 'must not hold a key of another session' }],
      })
  }
}
