/** Collects garbage: assets that nothing names, and bytes that no asset has. */
import {
  array,
  boolean,
  createPause,
  doc,
  enums,
  integer,
  named,
  object,
  Problem,
  string,
  type BlobRef,
  type Infer,
} from '../../../core/plugin.js'
import type { AssetBytes } from './bytes.js'
import { assetErrors } from './errors.js'
import { DeletionPlan, mostPlanned, type Removal } from './removal.js'
import { uriOf, type AssetStore, type StoredAsset } from './store.js'

/** Plans, their references, and orphans that a report tells one by one. */
const mostTold = 1_000

const OrphanFile = object({
  kind: enums(['orphan_raw']),
  uri: string(),
  byte_length: integer({ min: 0 }),
  exists: doc(boolean(), 'False where it was removed.'),
})
/** What a collection did, or would do. */
export const GcReport = named(
  'AssetGcReport',
  object({
    dry_run: boolean(),
    inspected_count: integer({ min: 0 }),
    candidate_count: doc(integer({ min: 0 }), 'Assets that nothing needs.'),
    blocked_count: doc(integer({ min: 0 }), 'Assets that something needs: they stay.'),
    deleted_count: integer({ min: 0 }),
    orphan_file_count: doc(integer({ min: 0 }), 'Bytes that no asset has.'),
    orphan_deleted_count: integer({ min: 0 }),
    reclaimable_bytes: doc(integer({ min: 0 }), 'Of the candidates and the orphans.'),
    orphan_reclaimable_bytes: integer({ min: 0 }),
    plans: doc(
      array(DeletionPlan),
      `Of candidates and blocked assets, the first ${mostTold} by id, with ${mostTold} references in all.`,
    ),
    orphan_files: doc(array(OrphanFile), `The first ${mostTold}.`),
  }),
)
/** The value form of `GcReport`. */
export type GcReport = Infer<typeof GcReport>

export interface GcParts {
  readonly store: AssetStore
  readonly bytes: AssetBytes
  readonly removal: Removal
}

const step = 32

const nothing = (dry_run: boolean): GcReport => ({
  dry_run,
  inspected_count: 0,
  candidate_count: 0,
  blocked_count: 0,
  deleted_count: 0,
  orphan_file_count: 0,
  orphan_deleted_count: 0,
  reclaimable_bytes: 0,
  orphan_reclaimable_bytes: 0,
  plans: [],
  orphan_files: [],
})

/** Something may have named it, or deleted it, since it was planned. */
const removed = async (
  removal: Removal,
  { asset_id, most }: { readonly asset_id: string; readonly most: number },
): Promise<DeletionPlan | undefined> => {
  try {
    return await removal.remove(asset_id, 'gc', most)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (error.code === assetErrors.asset_not_found.code) return undefined
    if (error.code !== assetErrors.asset_delete_blocked.code) throw error
    return removal.plan(asset_id, most)
  }
}

const addPlan = (report: GcReport, plan: DeletionPlan): void => {
  report.inspected_count += 1
  if (plan.blocked) report.blocked_count += 1
  else {
    report.candidate_count += 1
    report.reclaimable_bytes += plan.reclaimable_bytes
  }
  if (plan.deleted) report.deleted_count += 1
  if (report.plans.length < mostTold) report.plans.push(plan)
}

const collectAssets = async ({ store, removal }: GcParts, report: GcReport): Promise<void> => {
  const pause = createPause(step)
  /** What a run would have deleted by then: the last of those that share bytes gives them back. */
  const gone = new Set<string>()
  let untold = mostTold
  for (let last: StoredAsset | undefined; ;) {
    const some = store.list(step, last?.asset_id)
    for (const { asset_id } of some) {
      await pause()
      if (store.find(asset_id) === undefined) continue
      const most = report.plans.length < mostTold ? Math.min(untold, mostPlanned) : 0
      const plan = removal.plan(asset_id, most, gone)
      if (report.dry_run && !plan.blocked) gone.add(asset_id)
      const done = report.dry_run || plan.blocked ? plan : await removed(removal, { asset_id, most })
      if (done === undefined) continue
      untold -= done.references.length
      addPlan(report, { ...done, dry_run: report.dry_run })
    }
    last = some.at(-1)
    if (some.length < step) return
  }
}

const addOrphan = (report: GcReport, ref: BlobRef): void => {
  report.orphan_file_count += 1
  report.orphan_reclaimable_bytes += ref.bytes
  report.reclaimable_bytes += ref.bytes
  if (!report.dry_run) report.orphan_deleted_count += 1
  if (report.orphan_files.length < mostTold)
    report.orphan_files.push({
      kind: 'orphan_raw',
      uri: uriOf('raw', ref.sha256),
      byte_length: ref.bytes,
      exists: report.dry_run,
    })
}

const collectOrphans = async ({ store, bytes }: GcParts, report: GcReport): Promise<void> => {
  const pause = createPause(step)
  for (const ref of store.blobs.refs()) {
    await pause()
    if (!bytes.isFree(ref.sha256)) continue
    if (!report.dry_run) await bytes.release(ref)
    addOrphan(report, ref)
  }
}

/** A dry run counts what a run would delete: the bytes of what it would bury are no orphans to it. */
export const collectGarbage = async (gc: GcParts, dry_run: boolean): Promise<GcReport> => {
  const report = nothing(dry_run)
  await collectOrphans(gc, report)
  await collectAssets(gc, report)
  return report
}
