/** One section of several tables: what its groups have is looked for once, until the tables change. */
import { merged, type Source } from './merge.js'
import { remembering } from './remembering.js'
import { compareKeys, type Bound, type Row, type SectionShape, type Span } from './rows.js'
import type { Order, TableFile } from './table-file.js'
import type { GroupInfo } from './table-format.js'

/** A part of one group of a section, whose keys are group, sort key and id. */
export interface GroupRange {
  readonly group: string
  readonly order: Order
  /** Only rows strictly beyond this sort key, in the direction of the order. */
  readonly beyond?: string | undefined
}

/** No row. */
export const none: Iterable<Row> = []

/** Groups of which something is known; when there are more, all are forgotten. */
const mostKnown = 2048

const remember = <V>(known: Map<string, V>, group: string, value: V): V => {
  if (known.size >= mostKnown) known.clear()
  known.set(group, value)
  return value
}

export class SectionTables {
  readonly #shape: SectionShape
  /** Those that have the section, the oldest first. */
  readonly #files: readonly TableFile[]
  readonly #counts = new Map<string, number>()
  readonly #ranges = { asc: new Map<string, Iterable<Row>>(), desc: new Map<string, Iterable<Row>>() }

  constructor(shape: SectionShape, files: readonly TableFile[]) {
    this.#shape = shape
    this.#files = files.filter((file) => file.info(shape) !== undefined)
  }

  /** How many rows a group has. */
  count(group: string): number {
    if (this.#files.length === 0) return 0
    return (
      this.#counts.get(group) ??
      remember(
        this.#counts,
        group,
        this.#files.reduce((sum, file) => sum + countIn(file, this.#shape, group), 0),
      )
    )
  }

  /** How many rows of a group are behind a sort key. */
  countBeyond(group: string, beyond: string): number {
    const from: Bound = { key: [group, beyond], side: 'behind' }
    return this.#files.reduce((sum, file) => sum + countFrom(file, this.#shape, { group, from }), 0)
  }

  /** Groups in order; some have no row any more. */
  *groups(): Generator<string> {
    let from: Bound | undefined
    for (;;) {
      const next = this.#files.flatMap((file) => firstGroup(file, this.#shape, from) ?? [])
      const group = next.reduce<string | undefined>(
        (least, one) => (least === undefined || one < least ? one : least),
        undefined,
      )
      if (group === undefined) return
      yield group
      from = { key: [group], side: 'behind' }
    }
  }

  /** Rows of a group in order; `none` if there is none. */
  range(range: GroupRange): Iterable<Row> {
    if (this.#files.length === 0) return none
    if (range.beyond !== undefined) return merged(this.#sourcesOf(range), this.#shape, range)
    const known = this.#ranges[range.order]
    return known.get(range.group) ?? remember(known, range.group, this.#wholeGroup(range))
  }

  #wholeGroup(range: GroupRange): Iterable<Row> {
    const sources = this.#sourcesOf(range)
    return sources.length === 0 ? none : remembering(() => merged(sources, this.#shape, range))
  }

  #sourcesOf(range: GroupRange): readonly Source[] {
    return this.#files.flatMap((file) => sourceOf(file, this.#shape, range) ?? [])
  }
}

const countIn = (file: TableFile, shape: SectionShape, group: string): number => {
  const info = file.group(shape, group)
  if (info === undefined) return 0
  if (info !== 'unknown') return info.net
  return countFrom(file, shape, { group, from: { key: [group], side: 'before' } })
}

/** Rows of a group from a bound on: nodes know how many stand before each of their children. */
const countFrom = (
  file: TableFile,
  shape: SectionShape,
  { group, from }: { readonly group: string; readonly from: Bound },
): number =>
  file.group(shape, group) === undefined
    ? 0
    : file.rank(shape, { key: [group], side: 'behind' }) - file.rank(shape, from)

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
  const runs = (): Iterator<readonly Row[]> => within(file.runs(shape, { from, order: range.order }), range.group)
  const ends = info === 'unknown' ? endsAmong(file.info(shape)?.sorts, range.group) : info
  if (ends === undefined) return { least: undefined, runs }
  const [near, far] = range.order === 'asc' ? [ends.first, ends.last] : [ends.last, ends.first]
  const sign = range.order === 'asc' ? 1 : -1
  const beyond = from.key
  if (beyond.length > 1 && compareKeys(far, beyond, 2) * sign <= 0) return undefined
  return { least: beyond.length > 1 && compareKeys(near, beyond, 2) * sign <= 0 ? undefined : near, runs }
}

/**
 * Between which keys all rows of a group are, by the sort keys of all groups. Of what is in order of time a newer table
 * begins behind the older ones, and these are not read for the newest of a group. No text is between another and the
 * same with a zero behind it.
 */
const endsAmong = (sorts: Span | undefined, group: string): Pick<GroupInfo, 'first' | 'last'> | undefined =>
  sorts && { first: [group, sorts[0], ''], last: [group, `${sorts[1]}\0`, ''] }

function* within(runs: Iterable<readonly Row[]>, group: string): Generator<readonly Row[]> {
  for (const run of runs) {
    const isWhole = run.at(-1)?.[0] === group
    yield isWhole
      ? run
      : run.slice(
          0,
          run.findIndex((row) => row[0] !== group),
        )
    if (!isWhole) return
  }
}
