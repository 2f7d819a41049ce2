/** The tables of one collection or stream: opened from what the manifest names, and written by checkpoints. */
import { join } from 'node:path'
import { latestId } from '../../base/ids.js'
import { createPause, type Pause } from '../../base/turns.js'
import { tableIdentity } from '../format/identity.js'
import { indexName, numberOf } from '../format/layout.js'
import { faultIn } from '../format/line-file.js'
import type { TableRef } from '../format/manifest.js'
import { asThere, isAgain, isRemoval, shapeOf, weightOf, type Row, type SectionShape } from '../tables/rows.js'
import { TableFile } from '../tables/table-file.js'
import { createTable, type TableDraft } from '../tables/table-writer.js'
import { Tables } from '../tables/tables.js'
import type { PageOptions } from './page-file.js'
import { PageReader } from './page-reader.js'
import type { PartRows, SectionRows } from './row-set.js'
import { dueIn, factsOf, mergedSection, sectionsIn } from './table-merge.js'
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
  #merges: readonly Merge[] = []

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

  /** Tables that others became, or are about to become; no manifest names them yet. */
  get mergedPaths(): readonly string[] {
    return this.#merges.map(({ no }) => this.#path(no))
  }

  /** Others became one, and no manifest names it yet. */
  get hasMerged(): boolean {
    return this.#merges.some(({ ref }) => ref !== undefined)
  }

  /** Takes over what a checkpoint wrote. */
  apply(refs: readonly TableRef[]): void {
    this.#merges = this.#merges.filter((merge) => !refs.some(({ no }) => no === merge.no))
    this.tables.use(refs)
    this.#reader.keep((no) => refs.some((ref) => ref.no === no))
  }

  /**
   * What a checkpoint leaves of the tables: those that became one since the last are that one, those that fall are
   * gone, those that take away something of theirs are written anew, and the rows of each partition, if there are any,
   * are in one more.
   */
  async write(rows: readonly PartRows[], target: Target): Promise<readonly TableRef[]> {
    const left = await this.#withMerged(await this.#behindFall(target))
    let refs = left.map(({ ref }) => ref)
    for (const one of rows) if (!isEmpty(one)) refs = await this.#addTo(refs, one)
    return refs
  }

  /** Writes a table of these rows. */
  add(rows: PartRows): Promise<readonly TableRef[]> {
    return this.#addTo(this.refs, rows)
  }

  /** Makes one of tables that have become many, while others are added; the next `write` puts it in their place. */
  async merge(pause: Pause): Promise<void> {
    const become = new Set(this.#merges.flatMap((merge) => merge.taken))
    const taken = dueIn(this.tables.files, become, this.#options.tables)
    if (taken.length === 0) return
    const merge: Merge = { taken, no: this.#takeNo(), ref: undefined }
    this.#merges = [...this.#merges, merge]
    try {
      merge.ref = await this.#mergeOf(merge, pause)
    } catch (error) {
      await this.#forget(merge)
      // What fell meanwhile is no longer there to be read.
      if (isWithin(this.tables.files, taken)) throw error
    }
  }

  /** Makes one of tables that have become many until they are few, at once. */
  async settle(): Promise<void> {
    for (;;) {
      await this.merge(createPause(1))
      if (!this.hasMerged) return
      const refs = (await this.#withMerged(this.tables.files)).map(({ ref }) => ref)
      const before = this.paths
      this.apply(refs)
      for (const path of before) if (!this.paths.includes(path)) await this.#options.disk.unlink(path)
    }
  }

  close(): void {
    this.#reader.keep(() => false)
  }

  #path(no: number): string {
    return join(this.#options.folder, indexName(no))
  }

  async #addTo(refs: readonly TableRef[], { rows, part }: PartRows): Promise<TableRef[]> {
    const end = refs.findIndex((ref) => isBehind(ref.part, part))
    const at = end === -1 ? refs.length : end
    const facts = { ...rows.facts, ...(part !== undefined && { part }) }
    const ref = await this.#draft({ facts, pause: this.#options.pause, no: this.#takeNo() }, async (draft) => {
      for (const section of rows.sections)
        await draft.section(section.shape, [at === 0 ? standing(section) : section.rows])
      return latestId([...rows.ids])
    })
    return refs.toSpliced(at, 0, ref)
  }

  #mergeOf({ taken, no }: Merge, pause: Pause): Promise<TableRef> {
    const part = taken[0]?.ref.part
    const isOldest = this.tables.files[0] === taken[0]
    const facts = { ...factsOf(taken.map(({ ref }) => ref)), ...(part !== undefined && { part }) }
    return this.#draft({ facts, pause, no }, async (draft) => {
      for (const shape of sectionsIn(taken).map(shapeOf))
        await draft.section(shape, mergedSection(taken, shape, { isOldest, partly: part !== undefined && !isOldest }))
      return latestId(taken.map((file) => file.footer.latest))
    })
  }

  /** Puts what was merged in the place of what it was merged of, if that is still there. */
  async #withMerged(files: readonly TableFile[]): Promise<readonly TableFile[]> {
    let left = files
    for (const merge of this.#merges) {
      const { taken, ref } = merge
      if (ref === undefined) continue
      if (isWithin(left, taken)) left = replaced(left, taken, this.tables.open(ref))
      else await this.#forget(merge)
    }
    return left
  }

  async #forget(merge: Merge): Promise<void> {
    const { disk } = this.#options
    const path = this.#path(merge.no)
    this.#merges = this.#merges.filter((one) => one !== merge)
    if (disk.stat(path) !== undefined) await disk.unlink(path)
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
      const fill = (draft: TableDraft): Promise<string> => resettle(draft, file, older)
      const draft = { facts: { ...facts, ...next }, pause: this.#options.pause, no: this.#takeNo() }
      left[at] = this.tables.open(await this.#draft(draft, fill))
    }
    return left
  }

  /** Writes one table; `fill` returns the id in it that was made last. */
  async #draft({ facts, pause, no }: Draft, fill: (draft: TableDraft) => Promise<string>): Promise<TableRef> {
    const { disk, ids, tables } = this.#options
    const header = { v: 1, ...tableIdentity(this.#options, no), salt: ids.random(4) } as const
    const mark = this.#marks[0] ?? anyMark
    const draft = await createTable(disk, this.#path(no), { no, header, mark, blockRows: tables.blockRows, pause })
    try {
      return { ...(await draft.finish(await fill(draft))), ...facts }
    } catch (error) {
      await draft.abandon()
      throw error
    }
  }

  #takeNo(): number {
    this.#nextNo += 1
    return this.#nextNo - 1
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

const isEmpty = ({ rows: { sections } }: PartRows): boolean => sections.every(({ rows }) => rows.length === 0)

/** Tables that become one in the background. */
interface Merge {
  readonly taken: readonly TableFile[]
  readonly no: number
  /** The one, when it is written. */
  ref: TableRef | undefined
}

/** A table that is written. */
interface Draft {
  readonly facts: Pick<TableRef, 'part' | 'oldest' | 'reach'>
  readonly pause: Pause
  readonly no: number
}

/** With one in the place of some neighbours. */
const replaced = (files: readonly TableFile[], taken: readonly TableFile[], by: TableFile): readonly TableFile[] =>
  files.flatMap((file) => (file === taken[0] ? [by] : taken.includes(file) ? [] : [file]))

const isWithin = (files: readonly TableFile[], taken: readonly TableFile[]): boolean =>
  taken.every((file) => files.includes(file))

/** Rows of the oldest table: there is nothing to take away, and what stands again stands for itself. */
const standing = ({ shape, rows }: SectionRows): readonly Row[] => rows.filter((row) => weightOf(shape, row) === 1)

/** A table of a newer partition. */
const isBehind = (part: number | undefined, than: number | undefined): boolean =>
  part !== undefined && than !== undefined && part > than

/** Writes a table as it is where older ones fell. */
const resettle = async (draft: TableDraft, file: TableFile, older: Tables): Promise<string> => {
  for (const shape of Object.keys(file.footer.sections).map(shapeOf))
    await draft.section(shape, resettled(file.runs(shape, { order: 'asc', keep: false }), shape, older))
  return file.footer.latest
}

/** Rows that take away nothing any more are gone, and those that stood again for something stand for themselves. */
function* resettled(runs: Iterable<readonly Row[]>, shape: SectionShape, older: Tables): Generator<readonly Row[]> {
  const settled = (row: Row): readonly Row[] => {
    const rests = isRemoval(shape, row) || isAgain(shape, row)
    if (!rests || older.has(shape, row.slice(0, shape.keyCells))) return [row]
    return isAgain(shape, row) ? [asThere(shape, row)] : []
  }
  for (const run of runs) yield run.flatMap(settled)
}
