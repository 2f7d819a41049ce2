/** Deletes assets: a plan, a commit that buries the record, then the bytes. */
import {
  array,
  boolean,
  count,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  type Infer,
  type Log,
  type Tx,
} from '../../../core/plugin.js'
import type { AssetBytes } from './bytes.js'
import { AssetReference, type AssetHolder } from './contract.js'
import { assetErrors } from './errors.js'
import { forgetSources } from './naming/made-of.js'
import { countFields, countsOf, keeperOf, listReferences } from './naming/references.js'
import { parts, uriOf, type AssetStore, type StoredAsset } from './store.js'

/** References that a plan tells. */
export const mostPlanned = 100

const File = object({
  kind: enums(['raw', 'derived_text', 'preview', 'metadata']),
  uri: optional(string()),
  byte_length: integer({ min: 0 }),
  exists: doc(boolean(), 'False where the bytes are missing already.'),
})
/** What a deletion does, or would do. */
export const DeletionPlan = named(
  'AssetDeletionPlan',
  object({
    asset_id: string(),
    dry_run: boolean(),
    blocked: doc(boolean(), 'True if it is named where it must stay.'),
    deleted: boolean(),
    reclaimable_bytes: doc(integer({ min: 0 }), 'Bytes of the files; not of those that other assets have too.'),
    ...countFields,
    files: array(File),
    references: doc(array(AssetReference), `The first ${mostPlanned}, those that keep it before the others.`),
  }),
)
/** The value form of `DeletionPlan`. */
export type DeletionPlan = Infer<typeof DeletionPlan>

/** Why an asset was deleted. */
export type DeletionReason = 'api_delete' | 'gc' | 'delete' | 'released'

export interface RemovalParts {
  readonly store: AssetStore
  readonly bytes: AssetBytes
  readonly holders: () => readonly AssetHolder[]
  readonly log: Log
}

export interface Removal {
  /** With at most so many references, and as if those that are `gone` were. Throws `asset_not_found`. */
  plan(asset_id: string, most?: number, gone?: ReadonlySet<string>): DeletionPlan
  /** What was done. Rejects with `asset_delete_blocked`, `asset_not_found`. */
  remove(asset_id: string, reason: DeletionReason, most?: number): Promise<DeletionPlan>
  /** The same of a passing one that nothing keeps; false, and nothing done, of others and where it is gone. */
  release(asset_id: string): Promise<boolean>
  /** Takes the bytes of what is buried, and says so. */
  finish(asset: StoredAsset): Promise<void>
}

const none: ReadonlySet<string> = new Set()
const kinds = { raw: 'raw', text: 'derived_text', preview: 'preview' } as const

export const createRemoval = ({ store, bytes, holders, log }: RemovalParts): Removal => {
  const filesOf = (asset: StoredAsset, gone: ReadonlySet<string>): DeletionPlan['files'] => {
    const told = new Set<string>()
    const own = parts.flatMap((part) => {
      const ref = asset[part]
      if (ref === undefined || told.has(ref.sha256)) return []
      told.add(ref.sha256)
      if (store.naming(ref.sha256).some((id) => id !== asset.asset_id && !gone.has(id))) return []
      return [
        {
          kind: kinds[part],
          uri: uriOf(part, asset.asset_id),
          byte_length: ref.bytes,
          exists: store.blobs.has(ref),
        },
      ]
    })
    const byte_length = Buffer.byteLength(JSON.stringify(asset))
    return [...own, { kind: 'metadata', byte_length, exists: true }]
  }
  const plan: Removal['plan'] = (asset_id, most = mostPlanned, gone = none) => {
    const asset = store.get(asset_id)
    const counts = countsOf(holders(), asset_id)
    const references = listReferences(holders(), { asset_id, limit: most }).map(({ reference }) => reference)
    const files = filesOf(asset, gone)
    return {
      asset_id,
      dry_run: true,
      blocked: counts.hard_reference_count > 0,
      deleted: false,
      reclaimable_bytes: files.reduce((sum, { byte_length, exists }) => sum + (exists ? byte_length : 0), 0),
      ...counts,
      files,
      references,
    }
  }
  const requireFree = (asset_id: string): void => {
    const keeper = keeperOf(holders(), asset_id)
    if (keeper === undefined) return
    const { domain, owner_id } = keeper
    const times = count(countsOf(holders(), asset_id).hard_reference_count, 'time')
    throw assetErrors.asset_delete_blocked({ details: { asset_id, times, domain, owner_id } })
  }
  /** Nobody can name it from this commit on. */
  const bury = (tx: Tx, asset_id: string, reason: DeletionReason): StoredAsset => {
    const asset = store.get(asset_id)
    const buried = { ...asset, deleted: { at_ms: tx.now, reason, leaving: true } }
    store.put(tx, buried)
    forgetSources(tx, store.sources, asset_id)
    return buried
  }
  const finish: Removal['finish'] = async (asset) => {
    await bytes.releaseAll(asset)
    const { text: _text, preview: _preview, deleted, ...rest } = asset
    if (deleted !== undefined)
      await store.state.commit((tx) => store.put(tx, { ...rest, deleted: { ...deleted, leaving: false } }))
  }
  /** A start finishes what cannot be finished now. */
  const finishNow = (buried: StoredAsset): Promise<void> =>
    finish(buried).catch((error: unknown) => log.warn('the bytes of a deleted asset stay for now', { error }))
  const remove: Removal['remove'] = async (asset_id, reason, most) => {
    const { planned, buried } = await store.state.commit((tx) => {
      requireFree(store.get(asset_id).asset_id)
      return { planned: plan(asset_id, most), buried: bury(tx, asset_id, reason) }
    })
    await finishNow(buried)
    return { ...planned, dry_run: false, deleted: true }
  }
  const release: Removal['release'] = async (asset_id) => {
    const isFree = (): boolean => store.find(asset_id)?.passing === true && keeperOf(holders(), asset_id) === undefined
    const buried = await store.state.commit((tx) => (isFree() ? bury(tx, asset_id, 'released') : undefined))
    if (buried === undefined) return false
    await finishNow(buried)
    return true
  }
  return { plan, remove, release, finish }
}
