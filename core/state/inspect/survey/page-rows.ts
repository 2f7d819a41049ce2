/**
 * Which lines of pages count, as tables say: their rows come in the order of keys and are asked for in the order of
 * pages. Of many rows hardly any are in memory; the others wait in a scratch file.
 */
import type { Scratch } from '../../disk/scratch.js'
import type { Digest } from './row-digest.js'

/** Numbers of a row: offset, and the halves of its digest. */
const width = 3
/** Rows that wait in memory: of a page, and of all pages together. */
const [mostOfPage, mostOfAll] = [1024, 2 ** 18]

interface Waiting {
  /** Where full blocks stand. */
  readonly blocks: number[]
  readonly numbers: Uint32Array
  used: number
}

/** The rows of one page. Lines must be asked for in rising order. */
export interface RowsOfPage {
  /** Whether a row names this line. */
  takes(offset: number, digest: Digest): boolean
}

export interface PageRows {
  add(page: number, offset: number, digest: Digest): void
  /** The rows of a page, which are forgotten. */
  of(page: number): RowsOfPage
  /** Rows that came. */
  readonly rows: number
  /** Rows that a line was found for. */
  readonly taken: number
}

/** `count`: how many pages there are. The more there are, the fewer rows of each wait. */
export const createPageRows = (scratch: Scratch, count: number): PageRows => {
  const waiting = Math.max(1, Math.min(mostOfPage, Math.floor(mostOfAll / count)))
  const blockBytes = waiting * width * Uint32Array.BYTES_PER_ELEMENT
  const pages = new Map<number, Waiting>()
  let [rows, taken] = [0, 0]
  const waitingOf = (page: number): Waiting => {
    const known = pages.get(page) ?? { blocks: [], numbers: new Uint32Array(waiting * width), used: 0 }
    pages.set(page, known)
    return known
  }
  const numbersOf = ({ blocks, numbers, used }: Waiting): Uint32Array => {
    const all = new Uint32Array((blocks.length * waiting + used) * width)
    blocks.forEach((at, n) => all.set(new Uint32Array(scratch.read(at, blockBytes).buffer), n * waiting * width))
    all.set(numbers.subarray(0, used * width), blocks.length * waiting * width)
    return all
  }
  return {
    add(page, offset, { a, b }) {
      const to = waitingOf(page)
      to.numbers.set([offset, a, b], to.used * width)
      to.used += 1
      rows += 1
      if (to.used < waiting) return
      to.blocks.push(scratch.add(new Uint8Array(to.numbers.buffer)))
      to.used = 0
    },
    of(page) {
      const found = pages.get(page)
      pages.delete(page)
      const inPage = rowsOfPage(found === undefined ? new Uint32Array() : numbersOf(found))
      return {
        takes: (offset, digest) => {
          const is = inPage.takes(offset, digest)
          if (is) taken += 1
          return is
        },
      }
    },
    get rows() {
      return rows
    },
    get taken() {
      return taken
    },
  }
}

/** Offsets and places in one number each, which sorts fast: a page has less than 2^21 lines. */
const places = 2 ** 21

const rowsOfPage = (numbers: Uint32Array): RowsOfPage => {
  const order = new Float64Array(numbers.length / width)
  for (let at = 0; at < order.length; at += 1) order[at] = (numbers[at * width] ?? 0) * places + at
  order.sort()
  let next = 0
  return {
    takes: (offset, { a, b }) => {
      while (next < order.length && Math.floor((order[next] ?? 0) / places) < offset) next += 1
      const found = order[next] ?? Infinity
      if (Math.floor(found / places) !== offset) return false
      next += 1
      const at = (found % places) * width
      return numbers[at + 1] === a >>> 0 && numbers[at + 2] === b >>> 0
    },
  }
}
