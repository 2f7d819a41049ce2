/** Reads what is stored of assets, verified. */
import { createPause, Problem, type OpenBlob } from '../../../core/plugin.js'
import type { AssetPart } from './contract.js'
import { assetErrors } from './errors.js'
import type { AssetStore } from './store.js'

/** Rejects with `asset_integrity_mismatch`, `asset_not_found`, `asset_part_not_found`. */
export const openPart = async (store: AssetStore, asset_id: string, part: AssetPart): Promise<OpenBlob> => {
  const ref = store.get(asset_id)[part]
  if (ref === undefined) throw assetErrors.asset_part_not_found({ details: { asset_id, part } })
  const opened = await store.blobs.open(ref).catch((error: unknown) => {
    if (error instanceof Problem) return undefined
    throw error
  })
  if (opened === undefined) throw assetErrors.asset_integrity_mismatch({ details: { asset_id } })
  return opened
}

/** The whole of it; others are served between its pieces. Rejects as `openPart` does. */
export const readPart = async (store: AssetStore, asset_id: string, part: AssetPart): Promise<Buffer> => {
  const opened = await openPart(store, asset_id, part)
  try {
    const pause = createPause(1)
    const pieces: Uint8Array[] = []
    for (const piece of opened.pieces(0, opened.bytes)) {
      pieces.push(piece)
      await pause()
    }
    return Buffer.concat(pieces)
  } finally {
    await opened.close()
  }
}
