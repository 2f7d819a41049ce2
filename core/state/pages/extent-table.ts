/** Which lines of the pages hold an owner's entries: 24 bytes for each run of entries beside the owner's id. */
import type { Location } from './page-file.js'

/** One line of entries: `count` of them from sequence `first` on. */
export interface Extent extends Location {
  readonly first: number
  readonly count: number
}

const width = 6
const none = 0xffff_ffff

export class ExtentTable {
  /** The slot of each owner's last extent; each slot names the one before. */
  readonly #lasts = new Map<string, number>()
  #cells = new Uint32Array(0)
  #used = 0

  /** Adds an extent that follows the owner's last one; any other is left out. */
  add(owner: string, { page, offset, length, first, count }: Extent): void {
    if (first !== this.length(owner) + 1) return
    if ((this.#used + 1) * width > this.#cells.length) this.#grow()
    this.#cells.set([page, offset, length, first, count, this.#lasts.get(owner) ?? none], this.#used * width)
    this.#lasts.set(owner, this.#used)
    this.#used += 1
  }

  /** Last sequence of an owner; 0 if there is none. */
  length(owner: string): number {
    const slot = this.#lasts.get(owner)
    return slot === undefined ? 0 : this.#cell(slot, 3) + this.#cell(slot, 4) - 1
  }

  /** The extents that hold entries with `after < seq <= upto`, oldest first. */
  range(owner: string, after: number, upto: number): Extent[] {
    const found: Extent[] = []
    for (let slot = this.#lasts.get(owner) ?? none; slot !== none; slot = this.#cell(slot, 5)) {
      const first = this.#cell(slot, 3)
      const count = this.#cell(slot, 4)
      if (first + count - 1 <= after) break
      const [page, offset, length] = [this.#cell(slot, 0), this.#cell(slot, 1), this.#cell(slot, 2)]
      if (first <= upto) found.push({ page, offset, length, first, count })
    }
    return found.toReversed()
  }

  owners(): Iterable<string> {
    return this.#lasts.keys()
  }

  #grow(): void {
    const larger = new Uint32Array(Math.max(64 * width, Math.ceil(this.#used * 1.5) * width))
    larger.set(this.#cells)
    this.#cells = larger
  }

  #cell(slot: number, column: number): number {
    return this.#cells[slot * width + column] ?? none
  }
}
