/** Takes files: looks at them, stores them once, and gives each content of a media type one id. */
import { digestBytes, type Ids, type Problem, type Tx } from '../../../core/plugin.js'
import type { AssetBytes, Kept } from './bytes.js'
import {
  mostAssetBytes,
  normaliserOf,
  type AssetNormaliser,
  type AssetUpload,
  type IncomingFile,
  type NormalisedFile,
} from './contract.js'
import { assetErrors } from './errors.js'
import { noteSources } from './naming/made-of.js'
import { canonicalType } from './normalising/media-types.js'
import { placedIn, type FilePlace } from './placed.js'
import { bytesOf, type AssetStore, type StoredAsset } from './store.js'
import { checkRoom, type AssetsConfig } from './totals.js'

export interface ImportParts {
  readonly store: AssetStore
  readonly bytes: AssetBytes
  readonly ids: Ids
  readonly normalisers: () => readonly AssetNormaliser[]
  readonly config: AssetsConfig
}

/** Problems name the fields of the file by their places. */
export type ImportFile = (upload: AssetUpload, place?: FilePlace) => Promise<StoredAsset>

const badName = /[/\\\p{Cc}\p{Cs}]/u
const checkName = (name: string, media_type: string): void => {
  if (name.trim() !== '' && name !== '.' && name !== '..' && name.length <= 255 && !badName.test(name)) return
  const reason = 'its name must be 1 to 255 characters without slashes and control characters, and not blank, . or ..'
  throw assetErrors.asset_invalid({ details: { media_type, reason }, errors: [{ path: 'file_name', rule: reason }] })
}
const checkSize = ({ media_type, bytes }: IncomingFile): void => {
  const reason =
    bytes.length === 0
      ? 'it is empty'
      : bytes.length > mostAssetBytes
        ? `it has ${bytes.length} bytes, and ${mostAssetBytes} are the most`
        : undefined
  if (reason !== undefined) throw assetErrors.asset_invalid({ details: { media_type, reason } })
}

const unsupported = (normalisers: readonly AssetNormaliser[], media_type: string): Problem => {
  const supported = new Set(normalisers.flatMap(({ media_types }) => media_types.map(canonicalType)))
  const rule = `must be one of ${[...supported].toSorted().join(', ')}`
  return assetErrors.asset_type_unsupported({ details: { media_type }, errors: [{ path: 'media_type', rule }] })
}

/** The file as it is to be stored. Rejects with why it is not taken. */
export const normalise = async (
  normalisers: readonly AssetNormaliser[],
  incoming: IncomingFile,
): Promise<NormalisedFile> => {
  const normaliser = normaliserOf(normalisers, incoming.media_type)
  if (normaliser === undefined) throw unsupported(normalisers, incoming.media_type)
  return normaliser.normalise(incoming)
}

/** The asset that has these bytes under this media type already. */
const sameAs = (store: AssetStore, media_type: string, sha256: string): StoredAsset | undefined =>
  store.withContent(sha256).find((asset) => asset.media_type === media_type)

/** Whoever stores it now wants it to stay. */
const lasting = (store: AssetStore, tx: Tx, asset: StoredAsset): StoredAsset => {
  if (asset.passing === undefined) return asset
  const { passing: _passing, ...stays } = asset
  store.put(tx, stays)
  return stays
}

const recorded = (
  parts: ImportParts,
  { file_name, media_type, passing, made_of }: AssetUpload,
  kept: Kept,
): Promise<StoredAsset> =>
  parts.store.state.commit((tx) => {
    const same = sameAs(parts.store, media_type, kept.raw.sha256)
    if (same !== undefined) return passing === true ? same : lasting(parts.store, tx, same)
    const asset: StoredAsset = {
      asset_id: parts.ids.make('asset'),
      media_type,
      file_name,
      ...kept,
      derivation_ids: [],
      created_at_ms: tx.now,
      ...(passing === true && { passing }),
    }
    // Of files that come together the last one that fits is taken.
    checkRoom(parts, bytesOf(asset))
    parts.store.put(tx, asset)
    if (made_of !== undefined) noteSources(tx, parts.store, { ...made_of, asset_id: asset.asset_id })
    return asset
  })

/** Equal files that come at the same time are looked at once. */
export const createImport = (parts: ImportParts): ImportFile => {
  const flights = new Map<string, Promise<StoredAsset>>()
  const take = async (upload: AssetUpload): Promise<StoredAsset> => {
    const file = await normalise(parts.normalisers(), upload)
    return parts.bytes.keep(file, (kept) => recorded(parts, upload, kept))
  }
  const joined = async ({ media_type: declared, ...upload }: AssetUpload): Promise<StoredAsset> => {
    const media_type = canonicalType(declared)
    const { bytes, passing = false, made_of } = upload
    checkName(upload.file_name, media_type)
    checkSize({ media_type, bytes })
    const key = `${passing} ${media_type} ${await digestBytes(bytes)} ${JSON.stringify(made_of ?? null)}`
    const flight = flights.get(key) ?? take({ ...upload, media_type }).finally(() => flights.delete(key))
    flights.set(key, flight)
    return flight
  }
  return (upload, place) =>
    joined(upload).catch((error: unknown) => {
      throw place === undefined ? error : placedIn(error, place)
    })
}
