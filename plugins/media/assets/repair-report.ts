/** What a start found of assets, as it is shown. */
import {
  array,
  doc,
  integer,
  object,
  optional,
  string,
  type Infer,
  type Log,
  type Warning,
} from '../../../core/plugin.js'
import { uriOf, type StoredAsset } from './store.js'

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
  invalid_tombstone_count: doc(integer({ min: 0 }), 'None: graves are records like others.'),
  completed_tombstone_delete_count: integer({ min: 0 }),
  restored_derived_text_count: integer({ min: 0 }),
  restored_derived_preview_count: integer({ min: 0 }),
  integrity_backfilled_count: doc(integer({ min: 0 }), 'None: every asset has its digests.'),
  diagnostics: doc(
    array(object({ asset_id: string(), kind: string(), action: string(), reason: string(), uri: optional(string()) })),
    `The first ${mostDiagnostics}.`,
  ),
})
/** The value form of `RepairReport`. */
export type RepairReport = Infer<typeof RepairReport>

const nothing = (): RepairReport => ({
  repaired_count: 0,
  skipped_asset_count: 0,
  skipped_raw_missing_count: 0,
  skipped_raw_integrity_mismatch_count: 0,
  invalid_tombstone_count: 0,
  completed_tombstone_delete_count: 0,
  restored_derived_text_count: 0,
  restored_derived_preview_count: 0,
  integrity_backfilled_count: 0,
  diagnostics: [],
})

export interface Findings {
  readonly report: RepairReport
  /** A deletion was brought to its end. */
  finished(): void
  skipped(asset: StoredAsset, missing: boolean): void
  restored(asset_id: string, kind: 'derived_text' | 'preview'): void
}

export const createFindings = (log: Log): Findings => {
  const report = nothing()
  const tell = (entry: RepairReport['diagnostics'][number]): void => {
    log.warn('an asset is not as it was', entry)
    if (report.diagnostics.length < mostDiagnostics) report.diagnostics.push(entry)
  }

  const skipped = (asset: StoredAsset, missing: boolean): void => {
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
  const finished = (): void => {
    report.repaired_count += 1
    report.completed_tombstone_delete_count += 1
  }
  return { report, finished, skipped, restored }
}

const restoredWarning = (count: number): Warning => ({
  severity: 'info',
  code: 'assets_restored',
  message: `${count} files of assets were mended by this start.`,
  action: 'See storage.asset_repair with: holdfast status --output json',
})
const skippedWarning = (count: number): Warning => ({
  severity: 'warning',
  code: 'assets_skipped',
  message: `The bytes of ${count} assets are not there as they were.`,
  action:
    'Upload the files again, or restore them from a backup. They are in storage.asset_repair of: ' +
    'holdfast status --output json',
})
export const warningsOf = ({ repaired_count, skipped_asset_count }: RepairReport): Warning[] => [
  ...(repaired_count > 0 ? [restoredWarning(repaired_count)] : []),
  ...(skipped_asset_count > 0 ? [skippedWarning(skipped_asset_count)] : []),
]
