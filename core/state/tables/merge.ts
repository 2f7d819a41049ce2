/** Rows of several tables as one: sorted, and each key once. */
import { asThere, compareKeys, isAgain, isRemoval, thereAgain, weightOf, type Row, type SectionShape } from './rows.js'
import type { Order } from './table-file.js'

/** Rows of one table in order, some at a time; those of an older table come before it in a list of sources. */
export interface Source {
  /** No row comes before this one; then the table need not be read until it is its turn. */
  readonly least: Row | undefined
  readonly runs: () => Iterator<readonly Row[]>
}

/** How far a source is read. */
class Head {
  readonly age: number
  readonly #source: Source
  #runs: Iterator<readonly Row[]> | undefined
  #run: readonly Row[] = []
  #at = 0
  #row: Row

  constructor(source: Source, age: number) {
    this.age = age
    this.#source = source
    this.#row = source.least ?? []
  }

  /** Its next row; of one that is not read yet, the one before which none comes. */
  get row(): Row {
    return this.#row
  }
  get isRead(): boolean {
    return this.#runs !== undefined
  }

  /** Reads on; false: there is no more. */
  advance(count: number): boolean {
    this.#at += count
    while (this.#at >= this.#run.length) {
      this.#runs ??= this.#source.runs()
      const next = this.#runs.next()
      if (next.done === true) return false
      this.#run = next.value
      this.#at = 0
    }
    this.#row = this.#run[this.#at] ?? []
    return true
  }

  /** Its next rows that are at hand, as far as they come before another. */
  runBefore(isBefore: (row: Row) => boolean): readonly Row[] {
    const run = this.#run
    const last = run.length - 1
    const end = isBefore(run[last] ?? []) ? run.length : this.#placeBefore(isBefore)
    return this.#at === 0 && end === run.length ? run : run.slice(this.#at, end)
  }

  /** Steps double until one is too far, then halve: runs are mostly short or whole. */
  #placeBefore(isBefore: (row: Row) => boolean): number {
    const run = this.#run
    let [low, step] = [this.#at + 1, 1]
    while (low + step < run.length && isBefore(run[low + step - 1] ?? [])) {
      low += step
      step *= 2
    }
    let high = Math.min(low + step, run.length)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(run[middle] ?? [])) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Heads of sources, the one whose row is next on top. Of equal rows that of the oldest source comes first. */
class Heads {
  readonly #heap: Head[] = []
  readonly #cells: number
  readonly #sign: 1 | -1

  constructor(sources: readonly Source[], { keyCells }: SectionShape, order: Order) {
    this.#cells = keyCells
    this.#sign = order === 'asc' ? 1 : -1
    sources.forEach((source, age) => {
      const head = new Head(source, age)
      if (source.least !== undefined || head.advance(0)) this.push(head)
    })
  }

  get top(): Head | undefined {
    return this.#heap[0]
  }

  compare(a: Row, b: Row): number {
    return compareKeys(a, b, this.#cells) * this.#sign
  }

  push(head: Head): void {
    const heap = this.#heap
    let at = heap.push(head) - 1
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = heap[(at - 1) >> 1]
      if (parent === undefined || !this.#isBefore(head, parent)) break
      heap[at] = parent
    }
    heap[at] = head
  }

  pop(): Head | undefined {
    const heap = this.#heap
    const [top] = heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return top
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [a, b] = [heap[left], heap[left + 1]]
      const child = a === undefined ? undefined : b !== undefined && this.#isBefore(b, a) ? b : a
      if (child === undefined || !this.#isBefore(child, last)) break
      heap[at] = child
      at = child === a ? left : left + 1
    }
    heap[at] = last
    return top
  }

  /** Reads a head on, and takes it back while it has rows. */
  advance(head: Head, count: number): void {
    if (head.advance(count)) this.push(head)
  }

  /** One that is not read yet comes before the row that it may begin with. */
  #isBefore(a: Head, b: Head): boolean {
    const by = this.compare(a.row, b.row)
    if (by !== 0) return by < 0
    return a.isRead === b.isRead ? a.age < b.age : !a.isRead
  }
}

/** What counts of the rows of one key, the oldest first. */
type Verdict = (rows: readonly Row[]) => Row | undefined

/**
 * What counts of rows of one key: the newest; or, of rows that add and take away, what is left over. `partly`: older
 * tables may have the key too, and it may be there again.
 */
const verdictOf = (shape: SectionShape, partly: boolean): Verdict => {
  if (shape.rule === 'newest') return (rows) => rows.at(-1)
  return (rows) => {
    const last = rows[rows.length - 1] ?? []
    if (rows.length === 1 && !isAgain(shape, last)) return last
    const net = rows.reduce((sum, row) => sum + weightOf(shape, row), 0)
    if (isRemoval(shape, last)) return net === 0 ? undefined : last
    if (net === 0) return partly ? [...last.slice(0, shape.keyCells), thereAgain] : undefined
    return weightOf(shape, last) === 1 ? last : asThere(shape, last)
  }
}

export interface MergeOptions {
  readonly order: Order
  /** There are older tables than the sources. */
  readonly partly?: boolean
}

/** One row for each key of which something is left, some at a time. */
export function* mergedRuns(
  sources: readonly Source[],
  shape: SectionShape,
  { order, partly = false }: MergeOptions,
): Generator<readonly Row[]> {
  const verdict = verdictOf(shape, partly)
  const heads = new Heads(sources, shape, order)
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    const { top } = heads
    if (!head.isRead) heads.advance(head, 0)
    else if (top !== undefined && heads.compare(head.row, top.row) === 0) {
      const found = verdict(rowsOfOneKey(heads, head))
      if (found !== undefined) yield [found]
    } else {
      const run = head.runBefore((row) => top === undefined || heads.compare(row, top.row) < 0)
      heads.advance(head, run.length)
      yield partly ? run : standing(run, shape)
    }
  }
}

/** Rows of one key, the oldest first. */
const rowsOfOneKey = (heads: Heads, first: Head): readonly Row[] => {
  const { row } = first
  const rows = [row]
  heads.advance(first, 1)
  while (heads.top !== undefined && heads.compare(heads.top.row, row) === 0) {
    const head = heads.pop()
    if (head?.isRead) rows.push(head.row)
    if (head !== undefined) heads.advance(head, head.isRead ? 1 : 0)
  }
  return rows
}

/** Rows that stand again for what no older table has are no rows. */
const standing = (run: readonly Row[], shape: SectionShape): readonly Row[] =>
  run.some((row) => isAgain(shape, row)) ? run.filter((row) => !isAgain(shape, row)) : run

/** The same row by row. */
export function* merged(sources: readonly Source[], shape: SectionShape, options: MergeOptions): Generator<Row> {
  for (const run of mergedRuns(sources, shape, options)) for (const row of run) yield row
}
