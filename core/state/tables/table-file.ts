/** Reads one table: blocks that are asked for, and nothing else. */
import type { TableRef } from '../format/manifest.js'
import { readBloom, type Bloom } from './bloom.js'
import type { BlockCache } from './block-cache.js'
import { unsafeCast } from '../../base/schema.js'
import type { SizedCache } from '../../base/memory/sized-cache.js'
import { compareKeys, positionOf, unpackRows, weightOf, type Bound, type Row, type SectionShape } from './rows.js'
import { groupMember, type BlockLine, type GroupInfo, type SectionInfo, type TableFooter } from './table-format.js'

export type Order = 'asc' | 'desc'

export interface TableParts {
  readonly ref: TableRef
  /** The value of the line there; throws `storage_damaged` if it is not as it was written. */
  readonly readLine: (offset: number, length: number) => unknown
  readonly blocks: BlockCache
  /** Keeps filters that are asked; without it the table keeps its own as long as it is open. */
  readonly filters?: SizedCache<Bloom>
  /** Names the table among all of the root. */
  readonly key: string
}

/** Rows from a bound on, in one direction. */
export interface Walk {
  readonly from?: Bound | undefined
  readonly order: Order
  /** False: the blocks are not kept for the next reader. */
  readonly keep?: boolean
}

/** A node's child. */
interface Child {
  readonly offset: number
  readonly length: number
  readonly before: number
}

/** A block of a section's tree. */
export interface Block {
  readonly rows: readonly Row[]
  /** 0 for a leaf. */
  readonly height: number
  /** Rows less removals, twice, that its parent has before it. */
  readonly before: number
  /** The row of its parent that names it. */
  readonly named: Row | undefined
}

export class TableFile {
  readonly ref: TableRef
  readonly footer: TableFooter
  readonly #parts: TableParts
  #bloom: Bloom | undefined

  /** Reads the footer. */
  constructor(parts: TableParts) {
    const { ref, readLine } = parts
    this.ref = ref
    this.#parts = parts
    this.footer = unsafeCast<TableFooter>(readLine(ref.footer, ref.length - ref.footer))
  }

  info({ name }: SectionShape): SectionInfo | undefined {
    return this.footer.sections[name]
  }

  /** The row of a key, a removal too. */
  find(shape: SectionShape, key: Row): Row | undefined {
    const rows = this.leafOf(shape, key)
    return rows === undefined ? undefined : rowIn(rows, shape, key)
  }

  /** The leaf that has the row of a key if there is one; undefined: there is none for certain. */
  leafOf(shape: SectionShape, key: Row): readonly Row[] | undefined {
    const info = this.info(shape)
    if (info === undefined || !isWithin(info, key, shape.keyCells) || !this.mayHave(shape, String(key[0])))
      return undefined
    return this.#leafAt(shape, info, { key, side: 'behind' }).rows
  }

  /** The last row whose first cells are these. */
  findLast(shape: SectionShape, prefix: Row): Row | undefined {
    const info = this.info(shape)
    if (info === undefined || !isWithin(info, prefix, prefix.length) || !this.mayHave(shape, String(prefix[0])))
      return undefined
    const row = this.lastBefore(shape, { key: prefix, side: 'behind' })
    return row !== undefined && compareKeys(row, prefix, prefix.length) === 0 ? row : undefined
  }

  /** The last row before a bound. */
  lastBefore(shape: SectionShape, bound: Bound): Row | undefined {
    const info = this.info(shape)
    if (info === undefined) return undefined
    const { rows } = this.#leafAt(shape, info, bound)
    return rows[positionOf(rows, bound) - 1]
  }

  /** What is known of a group without reading a block; undefined: nothing of it is here. */
  group(shape: SectionShape, group: string): GroupInfo | 'unknown' | undefined {
    const info = this.info(shape)
    if (info === undefined || !isWithin(info, [group], 1)) return undefined
    if (info.groups !== null) return Object.hasOwn(info.groups, group) ? info.groups[group] : undefined
    return this.mayHave(shape, group) ? 'unknown' : undefined
  }

  /** Rows less removals, twice, before a bound. */
  rank(shape: SectionShape, bound: Bound): number {
    const info = this.info(shape)
    if (info === undefined) return 0
    const { rows, before } = this.#leafAt(shape, info, bound)
    return rows.slice(0, positionOf(rows, bound)).reduce((sum, row) => sum + weightOf(shape, row), before)
  }

  /** Every block, each node before its children. */
  *blocks(shape: SectionShape): Generator<Block> {
    const info = this.info(shape)
    if (info !== undefined) yield* this.#below(shape, { at: rootOf(info), height: info.height, named: undefined })
  }

  *#below(
    shape: SectionShape,
    { at, height, named }: { readonly at: Child; readonly height: number; readonly named: Row | undefined },
  ): Generator<Block> {
    const rows = this.#block(shape, at, false)
    yield { rows, height, before: at.before, named }
    if (height === 0) return
    for (const row of rows) yield* this.#below(shape, { at: childOf(shape, row), height: height - 1, named: row })
  }

  /** Rows in order, from a bound on. */
  *rows(shape: SectionShape, walk: Walk): Generator<Row> {
    for (const run of this.runs(shape, walk)) for (const row of run) yield row
  }

  /** The same, those of a block at a time; blocks are read as they are needed. */
  *runs(shape: SectionShape, walk: Walk): Generator<readonly Row[]> {
    const info = this.info(shape)
    if (info === undefined) return
    const isRising = walk.order === 'asc'
    for (const { rows, start } of this.#leaves(shape, { ...walk, at: rootOf(info), height: info.height })) {
      const run = isRising ? (start === 0 ? rows : rows.slice(start)) : rows.slice(0, start).reverse()
      if (run.length > 0) yield run
    }
  }

  /** Leaves in order, each with the place from which on its rows count. */
  *#leaves(
    shape: SectionShape,
    { at, height, from, order, keep = true }: Walk & { readonly at: Child; readonly height: number },
  ): Generator<{ readonly rows: readonly Row[]; readonly start: number }> {
    const rows = this.#block(shape, at, keep)
    const isRising = order === 'asc'
    const start = from === undefined ? (isRising ? 0 : rows.length) : positionOf(rows, from)
    if (height === 0) return yield { rows, start }
    const step = isRising ? 1 : -1
    const first = Math.max(0, start - 1)
    for (let n = first; n >= 0 && n < rows.length; n += step) {
      const at = childOf(shape, rows[n] ?? [])
      yield* this.#leaves(shape, { at, height: height - 1, from: n === first ? from : undefined, order, keep })
    }
  }

  /** The leaf where a bound is, and the net of what is before it. */
  #leafAt(shape: SectionShape, info: SectionInfo, bound: Bound): { rows: readonly Row[]; before: number } {
    let at = rootOf(info)
    for (let height = info.height; height > 0; height -= 1) {
      const children = this.#block(shape, at)
      at = childOf(shape, children[Math.max(0, positionOf(children, bound) - 1)] ?? [])
    }
    return { rows: this.#block(shape, at), before: at.before }
  }

  #block(shape: SectionShape, { offset, length }: Child, keep = true): readonly Row[] {
    const { readLine, blocks } = this.#parts
    const key = `${this.#parts.key}:${offset}`
    const known = blocks.get(key)
    if (known !== undefined) return known
    const rows = unpackRows(unsafeCast<BlockLine>(readLine(offset, length)).rows, shape)
    if (keep) blocks.set(key, rows, length)
    return rows
  }

  /** Whether its filter knows an id, an owner or a group. */
  mayHave({ name, keyCells }: SectionShape, first: string): boolean {
    return this.#filter().mayHave(keyCells === 3 ? groupMember(name, first) : first)
  }

  #filter(): Bloom {
    const { filters, key, readLine } = this.#parts
    const known = filters === undefined ? this.#bloom : filters.get(key)
    if (known !== undefined) return known
    const [offset, length] = this.footer.bloom
    const bloom = readBloom(unsafeCast<{ bloom: string }>(readLine(offset, length)).bloom)
    if (filters === undefined) this.#bloom = bloom
    else filters.set(key, bloom, length)
    return bloom
  }
}

/** The row of a key among those of a leaf. */
export const rowIn = (rows: readonly Row[], { keyCells }: SectionShape, key: Row): Row | undefined => {
  const row = rows[positionOf(rows, { key, side: 'behind' }) - 1]
  return row !== undefined && compareKeys(row, key, keyCells) === 0 ? row : undefined
}

const rootOf = ({ root: [offset, length] }: SectionInfo): Child => ({ offset, length, before: 0 })
const childOf = ({ keyCells }: SectionShape, row: Row): Child => ({
  offset: Number(row[keyCells]),
  length: Number(row[keyCells + 1]),
  before: Number(row[keyCells + 2]),
})
const isWithin = ({ first, last }: SectionInfo, key: Row, cells: number): boolean =>
  compareKeys(key, first, cells) >= 0 && compareKeys(key, last, cells) <= 0
