/** Blocks of tables that were read last, shared by all tables of a root and bounded by their bytes on disk. */
import type { Row } from './rows.js'

export interface BlockCache {
  get(key: string): readonly Row[] | undefined
  set(key: string, rows: readonly Row[], bytes: number): void
}

interface Kept {
  readonly rows: readonly Row[]
  readonly bytes: number
}

export const createBlockCache = (mostBytes: number): BlockCache => {
  const kept = new Map<string, Kept>()
  let held = 0
  const drop = (key: string, { bytes }: Kept): void => {
    kept.delete(key)
    held -= bytes
  }
  return {
    get(key) {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found.rows
    },
    set(key, rows, bytes) {
      if (bytes > mostBytes || kept.has(key)) return
      kept.set(key, { rows, bytes })
      held += bytes
      for (const [oldest, block] of kept) {
        if (held <= mostBytes) return
        drop(oldest, block)
      }
    },
  }
}
