/** What a start mends, beside its work: deletions that were cut off, and texts and previews that are missing. */
import {
  array,
  createShare,
  doc,
  integer,
  object,
  optional,
  string,
  type Clock,
  type Infer,
  type Log,
  type Warning,
} from '../../../core/plugin.js'
import type { AssetBytes } from './bytes.js'
import type { AssetNormaliser } from './contract.js'
import { normaliserFor } from './import.js'
import type { Removal } from './removal.js'
import { uriOf, type AssetStore, type StoredAsset } from './store.js'

const mostDiagnostics = 32

/** The member `storage.asset_repair` of `/v1/status`. */
export const RepairReport = object({
  repaired_count: doc(
    integer({ min: 0 }),
    'Deletions that were finished, and texts and previews that were made again.',
  ),
  skipped_asset_count: doc(integer({ min: 0 }), 'Assets whose bytes cannot be given.'),
  skipped_raw_missing_count: integer({ min: 0 }),
  skipped_raw_integrity_mismatch_count: integer({ min: 0 }),
  completed_tombstone_delete_count: integer({ min: 0 }),
  restored_derived_text_count: integer({ min: 0 }),
  restored_derived_preview_count: integer({ min: 0 }),
  diagnostics: doc(
    array(object({ asset_id: string(), kind: string(), action: string(), reason: string(), uri: optional(string()) })),
    `The first ${mostDiagnostics}.`,
  ),
})
/** The value form of `RepairReport`. */
export type RepairReport = Infer<typeof RepairReport>

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

const nothing = (): RepairReport => ({
  repaired_count: 0,
  skipped_asset_count: 0,
  skipped_raw_missing_count: 0,
  skipped_raw_integrity_mismatch_count: 0,
  completed_tombstone_delete_count: 0,
  restored_derived_text_count: 0,
  restored_derived_preview_count: 0,
  diagnostics: [],
})

export const createRepair = (parts: RepairParts): Repair => {
  const { store, bytes, removal, normalisers, clock, log } = parts
  const report = nothing()
  const tell = (entry: RepairReport['diagnostics'][number]): void => {
    log.warn('an asset is not as it was', entry)
    if (report.diagnostics.length < mostDiagnostics) report.diagnostics.push(entry)
  }

  const skip = (asset: StoredAsset, missing: boolean): void => {
    report.skipped_asset_count += 1
    if (missing) report.skipped_raw_missing_count += 1
    else report.skipped_raw_integrity_mismatch_count += 1
    const reason = missing ? 'raw_missing' : 'raw_integrity_mismatch'
    tell({ asset_id: asset.asset_id, kind: 'raw', action: 'skip', reason, uri: uriOf('raw', asset.asset_id) })
  }
  const restored = (asset_id: string, kind: 'derived_text' | 'preview'): void => {
    report.repaired_count += 1
    if (kind === 'preview') report.restored_derived_preview_count += 1
    else report.restored_derived_text_count += 1
    const uri = uriOf(kind === 'preview' ? 'preview' : 'text', asset_id)
    tell({ asset_id, kind, action: 'restore', reason: 'missing', uri })
  }

  /** Made again from the stored bytes, as when it came. */
  const remake = async (asset: StoredAsset, raw: Uint8Array): Promise<void> => {
    const { asset_id, media_type } = asset
    const lacking = { text: lacks(asset, 'text'), preview: lacks(asset, 'preview') }
    const made = await normaliserFor(normalisers(), media_type).normalise({ media_type, bytes: raw })
    await bytes.keep({ ...made, bytes: raw }, ({ text, preview }) =>
      store.state.commit((tx) => {
        const now = store.find(asset_id)
        if (now !== undefined) tx.put(store.assets, { ...now, ...(text && { text }), ...(preview && { preview }) })
      }),
    )
    if (lacking.text && made.text !== undefined) restored(asset_id, 'derived_text')
    if (lacking.preview && made.preview !== undefined) restored(asset_id, 'preview')
  }
  const lacks = (asset: StoredAsset, which: 'text' | 'preview'): boolean => {
    const ref = asset[which]
    return ref !== undefined && !store.blobs[which].has(ref)
  }
  const look = async (asset: StoredAsset): Promise<void> => {
    if (!store.blobs.raw.has(asset.raw)) {
      const damaged = await store.blobs.raw.open(asset.raw).catch(() => 'damaged' as const)
      return skip(asset, damaged === undefined)
    }
    if (!lacks(asset, 'text') && !lacks(asset, 'preview')) return
    const raw = await store.blobs.raw.read(asset.raw).catch(() => undefined)
    if (raw === undefined) skip(asset, false)
    else await remake(asset, raw)
  }

  const finishDeletions = async (): Promise<void> => {
    for (let some = store.leaving(step); some.length > 0; some = store.leaving(step))
      for (const asset of some) {
        await removal.finish(asset)
        report.repaired_count += 1
        report.completed_tombstone_delete_count += 1
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
    report: () => report,
    health: () => warningsOf(report),
  }
}

const restoredWarning = (count: number): Warning => ({
  severity: 'info',
  code: 'assets_restored',
  message: `${count} files of assets were mended by this start.`,
  action: 'See storage.asset_repair of /v1/status.',
})
const skippedWarning = (count: number): Warning => ({
  severity: 'warning',
  code: 'assets_skipped',
  message: `The bytes of ${count} assets are not there as they were.`,
  action: 'See storage.asset_repair of /v1/status; upload the files again, or restore them from a backup.',
})
const warningsOf = ({ repaired_count, skipped_asset_count }: RepairReport): Warning[] => [
  ...(repaired_count > 0 ? [restoredWarning(repaired_count)] : []),
  ...(skipped_asset_count > 0 ? [skippedWarning(skipped_asset_count)] : []),
]
