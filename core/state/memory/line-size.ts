/** How many bytes the operations of a commit are together. */
import type { Change } from './change.js'

/**
 * Counts operations as they are added. As long as they fit at three bytes for each of their signs, none of them is
 * measured: that goes through its text.
 */
export class LineSize {
  /** Of what stands around them, and of the operations that were measured, which are the first ones. */
  #bytes: number
  #measured = 0
  /** Of the others. */
  #signs = 0

  constructor(bytes: number) {
    this.#bytes = bytes
  }

  /** Adds one behind those before; false, and it is not added, if they would be more than `most` bytes with it. */
  add(before: readonly Change[], { op }: Change, most: number): boolean {
    // Each of them stands beside a comma or the end of the line.
    this.#signs += op.length + 1
    if (this.#bytes + this.#signs * 3 <= most) return true
    this.#signs = 0
    for (; this.#measured < before.length; this.#measured += 1)
      this.#bytes += Buffer.byteLength(before[this.#measured]?.op ?? '') + 1
    const bytes = this.#bytes + Buffer.byteLength(op) + 1
    if (bytes > most) return false
    this.#bytes = bytes
    this.#measured += 1
    return true
  }

  /** What takes the count back to what it is now. */
  mark(): () => void {
    const [bytes, measured, signs] = [this.#bytes, this.#measured, this.#signs]
    return () => {
      ;[this.#bytes, this.#measured, this.#signs] = [bytes, measured, signs]
    }
  }
}
