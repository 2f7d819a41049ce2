/**
 * What a start looks for, beside its work: derivations whose result is gone, which have failed then, and records that
 * say what no derivation can, which are taken away: what they stood for is derived anew.
 */
import { createShare, type Clock, type Log } from '../../../core/plugin.js'
import type { Assets } from '../assets/contract.js'
import { goneText, isGone } from './derive.js'
import type { DerivationStore, StoredDerivation } from './store.js'

export interface RepairParts {
  readonly store: DerivationStore
  readonly assets: Assets
  readonly clock: Clock
  readonly log: Log
}

const step = 64
/** The part of the time that it takes. */
const part = 0.2

/** Looks at everything once; ends early when the signal aborts. */
export const mendDerivations = async (
  { store, assets, clock, log }: RepairParts,
  signal: AbortSignal,
): Promise<void> => {
  const pause = createShare(clock, { part, signal })
  for (let last: StoredDerivation | undefined; ;) {
    const some = store.list(step, last?.derivation_id)
    for (const record of some) {
      await pause()
      if (signal.aborted) return
      if (!store.isSound(record)) {
        log.warn('a record that is no derivation was taken away', { derivation_id: record.derivation_id })
        await store.state.commit((tx) => store.remove(tx, record))
        continue
      }
      if (!isGone(assets, record)) continue
      log.warn('the result of a derivation is gone', { derivation_id: record.derivation_id })
      await store.state.commit((tx) => store.fail(tx, record, goneText))
    }
    last = some.at(-1)
    if (some.length < step) return
  }
}
