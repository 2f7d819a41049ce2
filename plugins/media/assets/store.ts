/** Where assets are kept: a record each, and their bytes, named by content whatever part of an asset they are. */
import {
  array,
  boolean,
  integer,
  object,
  optional,
  string,
  timestamp,
  type BlobRef,
  type Blobs,
  type Collection,
  collectionSource,
  type CollectionSpec,
  type Infer,
  type PageSource,
  type Skip,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { Asset, AssetPart } from './contract.js'
import { assetErrors } from './errors.js'
import { sourceCollection, type AssetSources } from './naming/made-of.js'

const partFields = { sha256: string(), bytes: integer({ min: 0 }) }
const StoredAsset = object({
  asset_id: string(),
  media_type: string(),
  file_name: string(),
  raw: object(partFields),
  text: optional(object(partFields)),
  preview: optional(object({ media_type: string(), ...partFields })),
  derivation_ids: array(string()),
  created_at_ms: timestamp(),
  /** Whose content its text is. */
  attached_text_asset_id: optional(string()),
  /** Nobody has stored it for longer than something names it. */
  passing: optional(boolean()),
  /** It is a grave: nobody names it, and its bytes go, or have gone unless it is `leaving`. */
  deleted: optional(object({ at_ms: timestamp(), reason: string(), leaving: boolean() })),
})
/** An asset, or the grave of one. */
export type StoredAsset = Infer<typeof StoredAsset>

export const parts = ['raw', 'text', 'preview'] as const
const area = 'assets'

const group = 'all'
const alive = <T>(read: (asset: StoredAsset) => T | undefined) => ({
  group: (asset: StoredAsset): T | undefined => (asset.deleted === undefined ? read(asset) : undefined),
})

const assetCollection: CollectionSpec<StoredAsset> = {
  name: 'assets',
  version: 2,
  id: ({ asset_id }) => asset_id,
  indexes: {
    all: alive(() => group),
    raw: alive(({ raw }) => raw.sha256),
    text: alive(({ text }) => text?.sha256),
    preview: alive(({ preview }) => preview?.sha256),
    attached: alive((asset) => asset.attached_text_asset_id),
    leaving: { group: ({ deleted }) => (deleted?.leaving === true ? group : undefined) },
  },
  settled: () => true,
  schema: StoredAsset,
  blobs: (asset) =>
    parts.flatMap((part) => {
      const ref = asset.deleted === undefined ? asset[part] : undefined
      return ref === undefined ? [] : [{ area, sha256: ref.sha256, bytes: ref.bytes }]
    }),
}

/** How many assets there are, and the bytes of their files. */
export type AssetTotals = { readonly count: number; readonly bytes: number }
type StoredTotals = AssetTotals & { readonly id: string }

const totalsCollection: CollectionSpec<StoredTotals> = {
  name: 'asset_totals',
  version: 1,
  id: ({ id }) => id,
  indexes: {},
}

/** Of an asset each digest once; what several assets have counts for each of them. */
export const bytesOf = (asset: Pick<StoredAsset, AssetPart>): number =>
  [...new Map(parts.flatMap((part) => (asset[part] === undefined ? [] : [[asset[part].sha256, asset[part].bytes]])))]
    .map(([, bytes]) => Number(bytes))
    .reduce((sum, bytes) => sum + bytes, 0)

export interface AssetStore {
  readonly state: State
  readonly assets: Collection<StoredAsset>
  readonly sources: AssetSources
  readonly blobs: Blobs
  /** Writes an asset or a grave, and counts it. */
  put(tx: Tx, asset: StoredAsset): void
  totals(): AssetTotals
  /** Undefined for one that was deleted. */
  find(asset_id: string): StoredAsset | undefined
  /** Throws `asset_not_found`. */
  get(asset_id: string): StoredAsset
  /** Those with this content, of any media type. */
  withContent(sha256: string): StoredAsset[]
  /** Ids of those that have these bytes, as whatever part of them. */
  naming(sha256: string): readonly string[]
  /** By id, the first of them behind `beyond`. */
  list(limit: number, beyond: string | undefined): StoredAsset[]
  leaving(limit: number): StoredAsset[]
  readonly all: PageSource<StoredAsset>
  readonly skip: Skip
}

const step = 500
const countAll = (list: AssetStore['list']): AssetTotals => {
  let [count, bytes] = [0, 0]
  for (let last: StoredAsset | undefined; ;) {
    const some = list(step, last?.asset_id)
    count += some.length
    bytes += some.reduce((sum, asset) => sum + bytesOf(asset), 0)
    last = some.at(-1)
    if (some.length < step) return { count, bytes }
  }
}

export const declareAssets = (state: State, skip: Skip): AssetStore => {
  const assets = state.collection(assetCollection)
  const find = (asset_id: string): StoredAsset | undefined => {
    const found = assets.find(asset_id)
    return found?.deleted === undefined ? found : undefined
  }
  const list: AssetStore['list'] = (limit, beyond) =>
    assets.list({ index: 'all', group, limit, skip, ...(beyond !== undefined && { beyond }) })
  const sums = state.collection(totalsCollection)
  /** Of a root of before they were kept, until something changes. */
  let counted: AssetTotals | undefined
  const totals = (): AssetTotals => {
    const { count, bytes } = sums.find(group) ?? (counted ??= countAll(list))
    return { count, bytes }
  }
  return {
    state,
    assets,
    sources: state.collection(sourceCollection),
    blobs: state.blobs(area),
    put(tx, asset) {
      const before = find(asset.asset_id)
      const known = totals()
      tx.put(assets, asset)
      const after = find(asset.asset_id)
      const count = known.count + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
      const bytes =
        known.bytes + (after === undefined ? 0 : bytesOf(after)) - (before === undefined ? 0 : bytesOf(before))
      if (count !== known.count || bytes !== known.bytes) tx.put(sums, { id: group, count, bytes })
    },
    totals,
    find,
    get(asset_id) {
      const found = find(asset_id)
      if (found === undefined) throw assetErrors.asset_not_found({ details: { asset_id } })
      return found
    },
    withContent: (sha256) => assets.ids('raw', sha256).flatMap((id) => assets.find(id) ?? []),
    naming: (sha256) => parts.flatMap((part) => assets.ids(part, sha256)),
    list,
    leaving: (limit) => assets.list({ index: 'leaving', group, limit, skip }),
    all: collectionSource(assets, 'all', group),
    skip,
  }
}

/** The name of a part of an asset, or of bytes that no asset has. */
export const uriOf = (part: AssetPart, id: string): string => `asset://${part}/${id}`
export const refOf = ({ sha256, bytes }: BlobRef): BlobRef => ({ sha256, bytes })

export const summaryOf = ({ asset_id, media_type, file_name, raw, created_at_ms }: StoredAsset) => ({
  asset_id,
  media_type,
  file_name,
  sha256: raw.sha256,
  byte_length: raw.bytes,
  created_at_ms,
})
export const viewOf = (asset: StoredAsset): Asset => {
  const { asset_id, text, preview, derivation_ids } = asset
  return {
    ...summaryOf(asset),
    uri: uriOf('raw', asset_id),
    ...(text && { text_uri: uriOf('text', asset_id), text_sha256: text.sha256, text_byte_length: text.bytes }),
    ...(preview && {
      preview_image_uri: uriOf('preview', asset_id),
      preview_image_media_type: preview.media_type,
      preview_image_sha256: preview.sha256,
      preview_image_byte_length: preview.bytes,
    }),
    derivation_ids: [...derivation_ids],
  }
}
