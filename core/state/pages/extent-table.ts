/** Which lines of the pages hold an owner's entries: 24 bytes for each run of entries beside the owner's id. */
import type { Location } from './page-set.js'

/** One line of entries: `count` of them from sequence `first` on. */
export interface Extent extends Location {
  readonly first: number
  readonly count: number
}

export interface ExtentTable {
  add(owner: string, extent: Extent): void
  /** Last sequence of an owner; 0 if there is none. */
  length(owner: string): number
  /** The extents that hold entries with `after < seq <= upto`, oldest first. */
  range(owner: string, after: number, upto: number): Extent[]
  owners(): Iterable<string>
}

const width = 6
const none = 0xffff_ffff

export const createExtentTable = (): ExtentTable => {
  const lasts = new Map<string, number>()
  let cells = new Uint32Array(0)
  let used = 0
  const add = (owner: string, { page, offset, length, first, count }: Extent): void => {
    if ((used + 1) * width > cells.length) {
      const larger = new Uint32Array(Math.max(64 * width, Math.ceil(used * 1.5) * width))
      larger.set(cells)
      cells = larger
    }
    cells.set([page, offset, length, first, count, lasts.get(owner) ?? none], used * width)
    lasts.set(owner, used)
    used += 1
  }
  const cell = (slot: number, column: number): number => cells[slot * width + column] ?? none
  const extentAt = (slot: number): Extent => ({
    page: cell(slot, 0),
    offset: cell(slot, 1),
    length: cell(slot, 2),
    first: cell(slot, 3),
    count: cell(slot, 4),
  })
  const length = (owner: string): number => {
    const slot = lasts.get(owner)
    return slot === undefined ? 0 : cell(slot, 3) + cell(slot, 4) - 1
  }
  const range = (owner: string, after: number, upto: number): Extent[] => {
    const found: Extent[] = []
    for (let slot = lasts.get(owner) ?? none; slot !== none; slot = cell(slot, 5)) {
      const first = cell(slot, 3)
      if (first + cell(slot, 4) - 1 <= after) break
      if (first <= upto) found.push(extentAt(slot))
    }
    return found.toReversed()
  }
  return {
    add,
    length,
    range,
    owners: () => lasts.keys(),
  }
}
