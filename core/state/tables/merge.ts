/** Rows of several tables as one: sorted, and each key once. */
import { asThere, compareKeys, isAgain, isRemoval, thereAgain, weightOf, type Row, type SectionShape } from './rows.js'
import type { Order } from './table-file.js'

/** Rows of one table in order; those of an older table come before it in a list of sources. */
export interface Source {
  /** No row comes before this one; then the table need not be read until it is its turn. */
  readonly least: Row | undefined
  readonly rows: () => Iterator<Row>
}

interface Head {
  readonly age: number
  readonly source: Source
  rows: Iterator<Row> | undefined
  row: Row
}

/** The sources' rows in order. Of equal keys that of the oldest source comes first. */
function* inOrder(sources: readonly Source[], { keyCells }: SectionShape, order: Order): Generator<Row> {
  const sign = order === 'asc' ? 1 : -1
  const heap: Head[] = []
  const isBefore = (a: Head, b: Head): boolean => {
    const by = compareKeys(a.row, b.row, keyCells) * sign
    return by === 0
      ? (a.rows === undefined) === (b.rows === undefined)
        ? a.age < b.age
        : a.rows === undefined
      : by < 0
  }
  const push = (head: Head): void => {
    let at = heap.push(head) - 1
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = heap[(at - 1) >> 1]
      if (parent === undefined || !isBefore(head, parent)) break
      heap[at] = parent
    }
    heap[at] = head
  }
  const pop = (): Head | undefined => {
    const [top] = heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return top
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const [a, b] = [heap[left], heap[left + 1]]
      const child = a === undefined ? undefined : b !== undefined && isBefore(b, a) ? b : a
      if (child === undefined || !isBefore(child, last)) break
      heap[at] = child
      at = child === a ? left : left + 1
    }
    heap[at] = last
    return top
  }
  const advance = (head: Head): void => {
    head.rows ??= head.source.rows()
    const next = head.rows.next()
    if (next.done === true) return
    head.row = next.value
    push(head)
  }
  sources.forEach((source, age) => {
    const head: Head = { age, source, rows: undefined, row: source.least ?? [] }
    if (source.least === undefined) advance(head)
    else push(head)
  })
  for (let head = pop(); head !== undefined; head = pop()) {
    if (head.rows !== undefined) yield head.row
    advance(head)
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

/** One row for each key of which something is left. */
export function* merged(
  sources: readonly Source[],
  shape: SectionShape,
  { order, partly = false }: MergeOptions,
): Generator<Row> {
  const verdict = verdictOf(shape, partly)
  let same: Row[] = []
  for (const row of inOrder(sources, shape, order)) {
    const [first] = same
    if (first !== undefined && compareKeys(first, row, shape.keyCells) === 0) {
      same.push(row)
      continue
    }
    const found = first && verdict(same)
    if (found !== undefined) yield found
    same = [row]
  }
  const found = same.length === 0 ? undefined : verdict(same)
  if (found !== undefined) yield found
}
