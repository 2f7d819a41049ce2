/** Real bytes that are given back when a full disk would keep the daemon from closing in order. */
import type { Disk } from './disk.js'

export interface Ballast { place(): Promise<void>; release(): Promise<void> }

export const createBallast = (disk: Disk, path: string, bytes: number): Ballast => {
  const place = async (): Promise<void> => {
    if (bytes === 0 || disk.stat(path)?.size === bytes) return
    await release()
    const file = await disk.open(path, 'create')
    try {
      await file.write(Buffer.alloc(bytes, 'ballast\n'), 0)
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
