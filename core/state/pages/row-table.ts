/** Where each record's line stands, in 12 bytes a row beside its id. */
import type { Location } from './page-set.js'

export interface RowTable {
  readonly size: number
  has(id: string): boolean
  get(id: string): Location | undefined
  set(id: string, location: Location): void
  delete(id: string): void
  ids(): Iterable<string>
}

const grown = (column: Uint32Array): Uint32Array<ArrayBuffer> => {
  const larger = new Uint32Array(Math.max(64, Math.ceil(column.length * 1.5)))
  larger.set(column)
  return larger
}

export const createRowTable = (): RowTable => {
  const slots = new Map<string, number>()
  const free: number[] = []
  let pages = new Uint32Array(0)
  let offsets = new Uint32Array(0)
  let lengths = new Uint32Array(0)
  let used = 0
  const newSlot = (): number => {
    const again = free.pop()
    if (again !== undefined) return again
    if (used === pages.length) {
      pages = grown(pages)
      offsets = grown(offsets)
      lengths = grown(lengths)
    }
    used += 1
    return used - 1
  }
  const get = (id: string): Location | undefined => {
    const slot = slots.get(id)
    if (slot === undefined) return undefined
    return { page: pages[slot] ?? 0, offset: offsets[slot] ?? 0, length: lengths[slot] ?? 0 }
  }
  const set = (id: string, { page, offset, length }: Location): void => {
    const slot = slots.get(id) ?? newSlot()
    slots.set(id, slot)
    pages[slot] = page
    offsets[slot] = offset
    lengths[slot] = length
  }
  const remove = (id: string): void => {
    const slot = slots.get(id)
    if (slot === undefined) return
    slots.delete(id)
    free.push(slot)
  }
  return {
    get size() {
      return slots.size
    },
    has: (id) => slots.has(id),
    get,
    set,
    delete: remove,
    ids: () => slots.keys(),
  }
}
