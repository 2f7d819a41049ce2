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
  isFree(sha256: string): boolean
  /** Removes them if they are free. */
  release(ref: BlobRef): Promise<void>
  /** The same for all parts of an asset. */
  releaseAll(asset: Pick<StoredAsset, AssetPart>): Promise<void>
}

export const createBytes = ({ blobs, naming }: AssetStore): AssetBytes => {
  /** How many are about to name some bytes. */
  const awaited = new Map<string, number>()
  const count = (sha256: string, change: 1 | -1): void => {
    const now = (awaited.get(sha256) ?? 0) + change
    if (now === 0) awaited.delete(sha256)
    else awaited.set(sha256, now)
  }
  const isFree: AssetBytes['isFree'] = (sha256) => !awaited.has(sha256) && naming(sha256).length === 0
  const release: AssetBytes['release'] = async (ref) => {
    if (isFree(ref.sha256)) await blobs.remove(refOf(ref))
  }
  const releaseAll: AssetBytes['releaseAll'] = async (asset) => {
    for (const part of parts) {
      const ref = asset[part]
      if (ref !== undefined) await release(ref)
    }
  }
  const keep: AssetBytes['keep'] = async ({ bytes, text, preview }, commit) => {
    const held: BlobRef[] = []
    const hold = (ref: BlobRef): void => {
      count(ref.sha256, 1)
      held.push(ref)
    }
    const put = (content: Uint8Array): Promise<BlobRef> => blobs.put(content, hold)
    try {
      return await commit({
        raw: await put(bytes),
        ...(text && { text: await put(text) }),
        ...(preview && { preview: { media_type: preview.media_type, ...(await put(preview.bytes)) } }),
      })
    } finally {
      for (const { sha256 } of held) count(sha256, -1)
      // What cannot be removed now is an orphan, which a collection finds.
      for (const ref of held) await release(ref).catch(() => {})
    }
  }
  return { keep, isFree, release, releaseAll }
}
