/** What a start mends, beside its work: deletions that were cut off, and texts and previews that are missing. */
import { createShare, type Clock, type Log, type Warning } from '../../../core/plugin.js'
import type { AssetBytes } from './bytes.js'
import type { AssetNormaliser } from './contract.js'
import { normalise } from './import.js'
import type { Removal } from './removal.js'
import { createFindings, warningsOf, type RepairReport } from './repair-report.js'
import type { AssetStore, StoredAsset } from './store.js'

export interface RepairParts {
  readonly store: AssetStore
  readonly bytes: AssetBytes
  readonly removal: Removal
  readonly normalisers: () => readonly AssetNormaliser[]
  readonly clock: Clock
  readonly log: Log
}

export interface Repair {
  /** Looks at everything once; ends early when the signal aborts. */
  run(signal: AbortSignal): Promise<void>
  report(): RepairReport
  health(): readonly Warning[]
}

const step = 64
/** The part of the time that it takes. */
const part = 0.2

export const createRepair = (parts: RepairParts): Repair => {
  const { store, bytes, removal, normalisers, clock, log } = parts
  const found = createFindings(log)

  /** Made again from the stored bytes, as when it came. */
  const remake = async (asset: StoredAsset, raw: Uint8Array): Promise<void> => {
    const { asset_id, media_type } = asset
    const lacking = { text: lacks(asset, 'text'), preview: lacks(asset, 'preview') }
    const made = await normalise(normalisers(), { media_type, bytes: raw })
    await bytes.keep({ ...made, bytes: raw }, ({ text, preview }) =>
      store.state.commit((tx) => {
        const now = store.find(asset_id)
        if (now !== undefined) store.put(tx, { ...now, ...(text && { text }), ...(preview && { preview }) })
      }),
    )
    if (lacking.text && made.text !== undefined) found.restored(asset_id, 'derived_text')
    if (lacking.preview && made.preview !== undefined) found.restored(asset_id, 'preview')
  }
  const lacks = (asset: StoredAsset, which: 'text' | 'preview'): boolean => {
    const ref = asset[which]
    return ref !== undefined && !store.blobs.has(ref)
  }
  const look = async (asset: StoredAsset): Promise<void> => {
    if (!store.blobs.has(asset.raw)) {
      const damaged = await store.blobs.open(asset.raw).catch(() => 'damaged' as const)
      return found.skipped(asset, damaged === undefined)
    }
    if (!lacks(asset, 'text') && !lacks(asset, 'preview')) return
    const raw = await store.blobs.read(asset.raw).catch(() => undefined)
    if (raw === undefined) found.skipped(asset, false)
    else await remake(asset, raw)
  }

  const finishDeletions = async (): Promise<void> => {
    for (let some = store.leaving(step); some.length > 0; some = store.leaving(step))
      for (const asset of some) {
        await removal.finish(asset)
        found.finished()
      }
  }
  const lookAtAll = async (signal: AbortSignal): Promise<void> => {
    const pause = createShare(clock, { part, signal })
    for (let last: StoredAsset | undefined; ;) {
      const some = store.list(step, last?.asset_id)
      for (const asset of some) {
        await pause()
        if (signal.aborted) return
        await look(asset).catch((error: unknown) => log.warn('an asset could not be looked at', { error }))
      }
      last = some.at(-1)
      if (some.length < step) return
    }
  }
  return {
    async run(signal) {
      await finishDeletions()
      await lookAtAll(signal)
    },
    report: () => found.report,
    health: () => warningsOf(found.report),
  }
}
