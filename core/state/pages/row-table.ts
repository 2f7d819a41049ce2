/** Where each record's line stands, in 12 bytes a row beside its id. */
import type { Location } from './page-file.js'

const width = 3

export class RowTable {
  readonly #slots = new Map<string, number>()
  readonly #free: number[] = []
  #cells = new Uint32Array(0)
  #used = 0

  get size(): number {
    return this.#slots.size
  }

  has(id: string): boolean {
    return this.#slots.has(id)
  }

  get(id: string): Location | undefined {
    const slot = this.#slots.get(id)
    return slot === undefined
      ? undefined
      : { page: this.#cell(slot, 0), offset: this.#cell(slot, 1), length: this.#cell(slot, 2) }
  }

  set(id: string, { page, offset, length }: Location): void {
    const slot = this.#slots.get(id) ?? this.#newSlot()
    this.#slots.set(id, slot)
    const at = slot * width
    this.#cells[at] = page
    this.#cells[at + 1] = offset
    this.#cells[at + 2] = length
  }

  delete(id: string): void {
    const slot = this.#slots.get(id)
    if (slot === undefined) return
    this.#slots.delete(id)
    this.#free.push(slot)
  }

  ids(): Iterable<string> {
    return this.#slots.keys()
  }

  #newSlot(): number {
    const again = this.#free.pop()
    if (again !== undefined) return again
    if (this.#used * width === this.#cells.length) {
      const larger = new Uint32Array(Math.max(64, Math.ceil(this.#used * 1.5)) * width)
      larger.set(this.#cells)
      this.#cells = larger
    }
    this.#used += 1
    return this.#used - 1
  }

  #cell(slot: number, column: number): number {
    return this.#cells[slot * width + column] ?? 0
  }
}
