/** Real bytes that are given back when a full disk would keep the daemon from closing in order. */
import type { Disk } from './disk.js'

export interface Ballast {
  place(): Promise<void>
  release(): Promise<void>
}

/** Bytes that a start writes at most: root.json, owner.json, the manifest, a watermark and the head of a segment. */
const startBytes = 256 * 1024

/** New memory of the whole size would cost a start more than the writing. */
const pieceBytes = 64 * 1024

/** A start on a full disk takes the room that was kept for it. */
export const makeRoom = async (disk: Disk, folder: string, ballast: string): Promise<void> => {
  if (disk.stat(ballast) !== undefined && disk.space(folder).free < startBytes) await disk.unlink(ballast)
}

export const createBallast = (disk: Disk, path: string, bytes: number): Ballast => {
  const place = async (): Promise<void> => {
    if (bytes === 0 || disk.stat(path)?.size === bytes) return
    await release()
    const file = await disk.open(path, 'create')
    try {
      const piece = Buffer.alloc(Math.min(bytes, pieceBytes), 'ballast\n')
      for (let at = 0; at < bytes; at += piece.length)
        await file.write(piece.subarray(0, Math.min(piece.length, bytes - at)), at)
      await file.sync()
    } finally {
      await file.close()
    }
  }
  const release = async (): Promise<void> => {
    if (disk.stat(path) !== undefined) await disk.unlink(path)
  }
  return { place, release: () => release().catch(() => undefined) }
}
