/**
 * The tables of one collection or stream, from the oldest to the newest. A
 * checkpoint adds one, which takes the newest of the others with it when they
 * have become many; none is ever changed.
 */
import { createCache } from '../../base/cache.js'
import type { TableRef } from '../format/manifest.js'
import { merged, type Source } from './merge.js'
import { remembering } from './remembering.js'
import { compareKeys, isRemoval, type Bound, type Row, type SectionShape } from './rows.js'
import { TableFile, type Order } from './table-file.js'

/** A part of one group of a section, whose keys are group, sort key and id. */
export interface GroupRange {
  readonly group: string
  readonly order: Order
  /** Only rows strictly beyond this sort key, in the direction of the order. */
  readonly beyond?: string | undefined
}

export class Tables {
  readonly #open: (ref: TableRef) => TableFile
  #files: readonly TableFile[] = []
  /** Of groups that were counted lately: the tables change at checkpoints only. */
  readonly #counts = createCache<number>(4096)
  /** The same of ranges, as far as they were read. */
  readonly #ranges = createCache<Iterable<Row>>(4096)

  constructor(open: (ref: TableRef) => TableFile) {
    this.#open = open
  }

  get files(): readonly TableFile[] {
    return this.#files
  }

  /** Tables that are known already stay open. Throws `storage_damaged` where a footer is not as it was written. */
  use(refs: readonly TableRef[]): void {
    const known = new Map(this.#files.map((file) => [file.ref.no, file]))
    this.#files = refs.map((ref) => known.get(ref.no) ?? this.#open(ref))
    this.#counts.clear()
    this.#ranges.clear()
  }

  /** The newest row of a key that is no removal. */
  find(shape: SectionShape, key: Row): Row | undefined {
    for (let at = this.#files.length - 1; at >= 0; at -= 1) {
      const row = this.#files[at]?.find(shape, key)
      if (row !== undefined) return isRemoval(shape, row) ? undefined : row
    }
    return undefined
  }

  /** The last row whose first cells are these, where rows of a newer table are behind those of the older. */
  findLast(shape: SectionShape, prefix: Row): Row | undefined {
    for (let at = this.#files.length - 1; at >= 0; at -= 1) {
      const row = this.#files[at]?.findLast(shape, prefix)
      if (row !== undefined) return row
    }
    return undefined
  }

  /** Every row of a section in order. */
  all(shape: SectionShape): Generator<Row> {
    const sources = this.#files.map((file) => ({ least: undefined, rows: () => file.rows(shape, { order: 'asc' }) }))
    return merged(sources, shape, 'asc')
  }

  /** How many rows a group of a section has. */
  count(shape: SectionShape, group: string): number {
    const key = `${shape.name}\0${group}`
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const count = this.#files.reduce((sum, file) => sum + countIn(file, shape, group), 0)
    this.#counts.set(key, count)
    return count
  }

  /** Groups of a section, in order; some have no row any more. */
  *groups(shape: SectionShape): Generator<string> {
    let from: Bound | undefined
    for (;;) {
      const next = this.#files.flatMap((file) => firstGroup(file, shape, from) ?? [])
      const group = next.reduce<string | undefined>(
        (least, one) => (least === undefined || one < least ? one : least),
        undefined,
      )
      if (group === undefined) return
      yield group
      from = { key: [group], side: 'behind' }
    }
  }

  /** Rows of a group in order. The first of a range are looked for once: a session asks for its newest at each run. */
  range(shape: SectionShape, range: GroupRange): Iterable<Row> {
    const key = JSON.stringify([shape.name, range.group, range.order, range.beyond])
    const known = this.#ranges.get(key)
    if (known !== undefined) return known
    const found = remembering(() => this.#rangeOf(shape, range))
    this.#ranges.set(key, found)
    return found
  }

  #rangeOf(shape: SectionShape, range: GroupRange): Generator<Row> {
    return merged(
      this.#files.flatMap((file) => sourceOf(file, shape, range) ?? []),
      shape,
      range.order,
    )
  }
}

const countIn = (file: TableFile, shape: SectionShape, group: string): number => {
  const info = file.group(shape, group)
  if (info === undefined) return 0
  if (info !== 'unknown') return info.net
  return file.rank(shape, { key: [group], side: 'behind' }) - file.rank(shape, { key: [group], side: 'before' })
}

const firstGroup = (file: TableFile, shape: SectionShape, from: Bound | undefined): string | undefined => {
  const [row] = file.rows(shape, { order: 'asc', ...(from !== undefined && { from }) })
  return row === undefined ? undefined : String(row[0])
}

/** Where a range begins, in its direction. */
const beginOf = ({ group, order, beyond }: GroupRange): Bound => {
  const key = beyond === undefined ? [group] : [group, beyond]
  const isRising = order === 'asc'
  return { key, side: (beyond === undefined) === isRising ? 'before' : 'behind' }
}

/** The rows of a range in one table, which is read when it is its turn; undefined: it has none. */
const sourceOf = (file: TableFile, shape: SectionShape, range: GroupRange): Source | undefined => {
  const info = file.group(shape, range.group)
  if (info === undefined) return undefined
  const from = beginOf(range)
  const rows = (): Iterator<Row> => within(file.rows(shape, { from, order: range.order }), range.group)
  if (info === 'unknown') return { least: undefined, rows }
  const [near, far] = range.order === 'asc' ? [info.first, info.last] : [info.last, info.first]
  const sign = range.order === 'asc' ? 1 : -1
  const beyond = from.key
  if (beyond.length > 1 && compareKeys(far, beyond, 2) * sign <= 0) return undefined
  return { least: beyond.length > 1 && compareKeys(near, beyond, 2) * sign <= 0 ? undefined : near, rows }
}

function* within(rows: Iterable<Row>, group: string): Generator<Row> {
  for (const row of rows) {
    if (row[0] !== group) return
    yield row
  }
}
