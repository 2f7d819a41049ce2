/** The tables of one collection or stream: opened from what the manifest names, and written by checkpoints. */
import { join } from 'node:path'
import { latestId } from '../../base/ids.js'
import { tableIdentity } from '../format/identity.js'
import { indexName, numberOf } from '../format/layout.js'
import { faultIn } from '../format/line-file.js'
import type { Oldest, TableRef } from '../format/manifest.js'
import { firstTaken } from '../tables/compaction.js'
import { merged, type Source } from '../tables/merge.js'
import { asThere, isAgain, isRemoval, shapeOf, weightOf, type Row, type SectionShape } from '../tables/rows.js'
import { TableFile } from '../tables/table-file.js'
import { createTable, type TableDraft } from '../tables/table-writer.js'
import { Tables } from '../tables/tables.js'
import type { PageOptions } from './page-file.js'
import { PageReader } from './page-reader.js'
import { idSection } from './record-codec.js'
import type { RowSet, TableFacts } from './row-set.js'
import { stays, type Target } from './target.js'

/** The mark of a store that takes tables as they are; those that it writes are of no use to any other. */
export const anyMark = 'undeclared'
export const declarationChanged = 'the declaration changed'
/** An earlier version wrote the pages, or a repair dropped the tables. */
export const noTables = 'there was none yet'

export class TableSet {
  readonly tables: Tables
  readonly #options: PageOptions
  readonly #marks: readonly string[]
  readonly #reader: PageReader
  #isOpen = false
  #nextNo = 1

  /** Tables with another mark are of no use; those that are written get the first. */
  constructor(options: PageOptions, marks: readonly string[]) {
    this.#options = options
    this.#marks = marks
    this.#reader = new PageReader({
      ...options,
      path: (no) => this.#path(no),
      identity: (no) => tableIdentity(options, no),
      onDamage: (fault) => this.#isOpen && options.onDamage(fault),
    })
    this.tables = new Tables((ref) => this.#open(ref))
  }

  get refs(): readonly TableRef[] {
    return this.tables.files.map((file) => file.ref)
  }

  get paths(): readonly string[] {
    return this.refs.map(({ no }) => this.#path(no))
  }

  /** Opens tables; says why that is not possible. */
  load(refs: readonly TableRef[], begin: () => void): string | undefined {
    const { disk, folder } = this.#options
    const there = disk.list(folder).map((name) => numberOf(name) ?? 0)
    this.#nextNo = 1 + Math.max(0, ...there, ...refs.map((ref) => ref.no))
    const why = this.#tryLoad(refs, begin)
    if (why !== undefined) this.tables.use([])
    this.#isOpen = true
    return why
  }

  /** Takes over what a checkpoint wrote. */
  apply(refs: readonly TableRef[]): void {
    this.tables.use(refs)
    this.#reader.keep((no) => refs.some((ref) => ref.no === no))
  }

  /**
   * What a checkpoint leaves of the tables: those that fall are gone, those that take away something of theirs are
   * written anew, and the rows, if there are any, are in one more.
   */
  async write(rows: RowSet, target: Target): Promise<readonly TableRef[]> {
    const left = await this.#behindFall(target)
    const isEmpty = rows.sections.every((section) => section.rows.length === 0)
    const refs = isEmpty ? left.map(({ ref }) => ref) : await this.#addTo(left, rows, target.part)
    for (const { ref } of left)
      if (!refs.includes(ref) && !this.refs.includes(ref)) await this.#options.disk.unlink(this.#path(ref.no))
    return refs
  }

  /** Writes a table of these rows, and of those in the newest tables of the partition where they have become many. */
  add(rows: RowSet, part: number | undefined): Promise<readonly TableRef[]> {
    return this.#addTo(this.tables.files, rows, part)
  }

  close(): void {
    this.#reader.keep(() => false)
  }

  #path(no: number): string {
    return join(this.#options.folder, indexName(no))
  }

  async #addTo(files: readonly TableFile[], rows: RowSet, part: number | undefined): Promise<readonly TableRef[]> {
    const end = files.findIndex(({ ref }) => isBehind(ref.part, part))
    const at = end === -1 ? files.length : end
    const start = files.slice(0, at).findIndex(({ ref }) => ref.part === part)
    const first = start === -1 ? at : start
    const own = files.slice(first, at).map(({ ref }) => ref)
    const count = Math.max(...rows.sections.map((section) => section.rows.length))
    const isWhole = own.length === files.length && isWorn(files, rows)
    const from = isWhole ? 0 : first + firstTaken(own, count, this.#options.tables)
    const ref = await this.#merge(files.slice(from, at), rows, { isOldest: from === 0, part })
    return [...files.slice(0, from), undefined, ...files.slice(at)].map((file) => file?.ref ?? ref)
  }

  #merge(taken: readonly TableFile[], rows: RowSet, { isOldest, part }: Place): Promise<TableRef> {
    const facts = mergedFacts([...taken.map(({ ref }) => ref), rows.facts])
    const partly = part !== undefined && !isOldest
    return this.#draft({ ...facts, ...(part !== undefined && { part }) }, async (draft) => {
      for (const { shape, rows: added } of rows.sections)
        await draft.section(shape, remaining(taken, { shape, added, isOldest, partly }))
      return latestId([...rows.ids, ...taken.map((file) => file.footer.latest)])
    })
  }

  /** The tables that stay when partitions fall. */
  async #behindFall(target: Target): Promise<readonly TableFile[]> {
    const { fall } = target
    const files = this.tables.files.filter(({ ref }) => stays(target, ref))
    const left = [...files]
    for (const [at, file] of files.entries()) {
      const { part, reach } = file.ref
      if (reach === undefined || reach > fall) continue
      const older = this.tables.of(left.slice(0, at))
      const facts = { ...(part !== undefined && { part }), ...(file.ref.oldest && { oldest: file.ref.oldest }) }
      const next = part !== undefined && fall + 1 < part ? { reach: fall + 1 } : {}
      left[at] = this.tables.open(await this.#draft({ ...facts, ...next }, (draft) => resettle(draft, file, older)))
    }
    return left
  }

  /** Writes one table; `fill` returns the id in it that was made last. */
  async #draft(
    facts: Pick<TableRef, 'part' | 'oldest' | 'reach'>,
    fill: (draft: TableDraft) => Promise<string>,
  ): Promise<TableRef> {
    const draft = await this.#begin()
    try {
      return { ...(await draft.finish(await fill(draft))), ...facts }
    } catch (error) {
      await draft.abandon()
      throw error
    }
  }

  #begin(): Promise<TableDraft> {
    const { disk, ids, tables } = this.#options
    const no = this.#nextNo
    this.#nextNo += 1
    const header = { v: 1, ...tableIdentity(this.#options, no), salt: ids.random(4) } as const
    return createTable(disk, this.#path(no), {
      no,
      header,
      mark: this.#marks[0] ?? anyMark,
      blockRows: tables.blockRows,
    })
  }

  #open(ref: TableRef): TableFile {
    return new TableFile({
      ref,
      readLine: (offset, length) => this.#reader.read({ page: ref.no, offset, length }),
      blocks: this.#options.blocks,
      key: `${this.#options.folder}:${ref.no}`,
    })
  }

  #tryLoad(refs: readonly TableRef[], begin: () => void): string | undefined {
    if (refs.length === 0) return noTables
    try {
      for (const { no, length } of refs)
        if ((this.#options.disk.stat(this.#path(no))?.size ?? 0) < length)
          return `a file ends before its ${length} bytes`
      this.tables.use(refs)
      const isMarked =
        this.#marks.includes(anyMark) || this.tables.files.every(({ footer }) => this.#marks.includes(footer.mark))
      if (!isMarked) return declarationChanged
      begin()
      return undefined
    } catch (error) {
      const fault = faultIn(error)
      if (fault === undefined) throw error
      return fault.rule
    }
  }
}

/** Where a table belongs among others. */
interface Place {
  /** Nothing is older: a removal takes nothing away. */
  readonly isOldest: boolean
  readonly part: number | undefined
}

/** A table of a newer partition. */
const isBehind = (part: number | undefined, than: number | undefined): boolean =>
  part !== undefined && than !== undefined && part > than

const mergedFacts = (all: readonly TableFacts[]): TableFacts => {
  const oldest = all.reduce<Oldest | undefined>(
    (least, { oldest: one }) => (one !== undefined && (least === undefined || one.since < least.since) ? one : least),
    undefined,
  )
  const reach = Math.min(...all.map((one) => one.reach ?? Infinity))
  return { ...(oldest !== undefined && { oldest }), ...(reach !== Infinity && { reach }) }
}

/**
 * A quarter of all rows of ids takes others away: so that removals do not outlast what was removed, all tables become
 * one.
 */
const isWorn = (files: readonly TableFile[], { sections }: RowSet): boolean => {
  const added = sections.find(({ shape }) => shape.name === idSection.name)?.rows ?? []
  let [all, removals] = [added.length, added.filter((row) => isRemoval(idSection, row)).length]
  for (const file of files) {
    const { rows = 0, net = 0 } = file.info(idSection) ?? {}
    all += rows
    removals += (rows - net) / 2
  }
  return removals > 0 && removals * 4 >= all
}

interface Remaining extends Omit<Place, 'part'> {
  readonly shape: SectionShape
  readonly added: readonly Row[]
  /** Older tables stay as they are, and something may be there again. */
  readonly partly: boolean
}

const remaining = (taken: readonly TableFile[], rows: Remaining): Iterable<Row> => {
  if (taken.length > 0) return allRemaining(taken, rows)
  return rows.isOldest ? rows.added.filter((row) => weightOf(rows.shape, row) === 1) : rows.added
}

function* allRemaining(taken: readonly TableFile[], { shape, added, isOldest, partly }: Remaining): Generator<Row> {
  const sources: Source[] = [
    ...taken.map((file) => ({ least: undefined, rows: () => file.rows(shape, { order: 'asc', keep: false }) })),
    { least: undefined, rows: () => added.values() },
  ]
  for (const row of merged(sources, shape, { order: 'asc', partly })) if (!isOldest || !isRemoval(shape, row)) yield row
}

/** Writes a table as it is where older ones fell. */
const resettle = async (draft: TableDraft, file: TableFile, older: Tables): Promise<string> => {
  for (const shape of Object.keys(file.footer.sections).map(shapeOf))
    await draft.section(shape, resettled(file.rows(shape, { order: 'asc', keep: false }), shape, older))
  return file.footer.latest
}

/** Rows that take away nothing any more are gone, and those that stood again for something stand for themselves. */
function* resettled(rows: Iterable<Row>, shape: SectionShape, older: Tables): Generator<Row> {
  for (const row of rows) {
    const rests = isRemoval(shape, row) || isAgain(shape, row)
    if (!rests || older.has(shape, row.slice(0, shape.keyCells))) yield row
    else if (isAgain(shape, row)) yield asThere(shape, row)
  }
}
