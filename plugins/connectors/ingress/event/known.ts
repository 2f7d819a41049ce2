/** Events that came before: the key of each is kept in the commit of its run. */
import { digest } from '../../../../core/plugin.js'
import type { ReceiptKey, Runs } from '../../../execution/runs/contract.js'
import type { IngressEvent, Received } from '../../registry/contract.js'
import { ingressErrors } from './errors.js'

export const receiptScope = 'connector'

/** What names an event once; undefined for one without a name. The key itself is kept nowhere. */
export const receiptOf = ({ key, fingerprint }: IngressEvent): ReceiptKey | undefined =>
  key === undefined ? undefined : { scope: receiptScope, key: digest(key), digest: fingerprint }

/** What is told of the first event of a key to who sends another one under it. */
interface First {
  readonly run_id?: string
  readonly session_id?: string
}

/** Another event has this key. */
export const otherEvent = (first: First) =>
  ingressErrors.conflict({
    details: { what: 'another event came under this key before' },
    members: { reason: 'other_payload', ...first },
  })

/**
 * What became of the same event before, whatever is set up now; undefined for a new one. Throws `conflict` for another
 * one of the same key, with the ids of the first, and where its run is no longer kept: it is not done twice.
 */
export const knownEvent = (
  runs: Pick<Runs, 'used' | 'find'>,
  receipt: ReceiptKey | undefined,
): Received | undefined => {
  const used = receipt === undefined ? undefined : runs.used(receipt)
  if (used === undefined) return undefined
  const run = runs.find(used.run_id)
  const first = { run_id: used.run_id, ...(run !== undefined && { session_id: run.session_id }) }
  if (used.digest !== receipt?.digest) throw otherEvent(first)
  if (run !== undefined) return { type: 'duplicate', session_id: run.session_id, run }
  throw ingressErrors.conflict({
    details: { what: 'it came before, and its run is no longer kept' },
    members: { reason: 'event_expired', ...first },
  })
}
