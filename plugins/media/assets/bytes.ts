/** Bytes of assets: put before their record, and removed when no record names them. */
import type { BlobRef } from '../../../core/plugin.js'
import type { AssetPart, NormalisedFile } from './contract.js'
import { parts, refOf, type AssetStore, type StoredAsset } from './store.js'

export interface Kept {
  readonly raw: BlobRef
  readonly text?: BlobRef
  readonly preview?: BlobRef & { readonly media_type: string }
}

export interface AssetBytes {
  /**
   * Puts a file and lets `commit` write the record that names it. Until it has settled, none of these bytes are
   * removed, whoever asks for it; if it fails, those that nobody names are.
   */
  keep<T>(file: NormalisedFile, commit: (kept: Kept) => Promise<T>): Promise<T>
  /** True while nobody names these bytes and nobody is about to. */
  isFree(part: AssetPart, sha256: string): boolean
  /** Removes what is free of it. */
  release(part: AssetPart, ref: BlobRef): Promise<void>
  /** The same for all parts of an asset. */
  releaseAll(asset: Pick<StoredAsset, AssetPart>): Promise<void>
}

export const createBytes = ({ assets, blobs }: AssetStore): AssetBytes => {
  /** How many are about to name some bytes. */
  const awaited = new Map<string, number>()
  const keyOf = (part: AssetPart, sha256: string): string => `${part} ${sha256}`
  const isFree: AssetBytes['isFree'] = (part, sha256) =>
    assets.count(part, sha256) === 0 && !awaited.has(keyOf(part, sha256))
  const release: AssetBytes['release'] = async (part, ref) => {
    if (isFree(part, ref.sha256)) await blobs[part].remove(refOf(ref))
  }
  const releaseAll: AssetBytes['releaseAll'] = async (asset) => {
    for (const part of parts) {
      const ref = asset[part]
      if (ref !== undefined) await release(part, ref)
    }
  }
  const count = (key: string, change: 1 | -1): void => {
    const now = (awaited.get(key) ?? 0) + change
    if (now === 0) awaited.delete(key)
    else awaited.set(key, now)
  }
  const keep: AssetBytes['keep'] = async ({ bytes, text, preview }, commit) => {
    const held: { part: AssetPart; ref: BlobRef }[] = []
    const put = async (part: AssetPart, content: Uint8Array): Promise<BlobRef> => {
      const hold = (ref: BlobRef): void => {
        count(keyOf(part, ref.sha256), 1)
        held.push({ part, ref })
      }
      return blobs[part].put(content, hold)
    }
    try {
      const raw = await put('raw', bytes)
      const kept: Kept = {
        raw,
        ...(text && { text: await put('text', text) }),
        ...(preview && { preview: { media_type: preview.media_type, ...(await put('preview', preview.bytes)) } }),
      }
      return await commit(kept)
    } finally {
      for (const { part, ref } of held) count(keyOf(part, ref.sha256), -1)
      for (const { part, ref } of held) await release(part, ref).catch(() => {})
    }
  }
  return { keep, isFree, release, releaseAll }
}
