/** The tables of one collection or stream: opened from what the manifest names, and written by checkpoints. */
import { join } from 'node:path'
import { latestId } from '../../base/ids.js'
import { indexName, numberOf } from '../format/layout.js'
import { faultIn } from '../format/line-file.js'
import type { TableRef } from '../format/manifest.js'
import { firstTaken } from '../tables/compaction.js'
import { merged, type Source } from '../tables/merge.js'
import { isRemoval, type Row, type SectionShape } from '../tables/rows.js'
import { TableFile } from '../tables/table-file.js'
import { createTable, type TableDraft } from '../tables/table-writer.js'
import { Tables } from '../tables/tables.js'
import type { PageOptions } from './page-file.js'
import { PageReader } from './page-reader.js'

/** The mark of a store that takes tables as they are; those that it writes are of no use to any other. */
export const anyMark = 'undeclared'
export const declarationChanged = 'the declaration changed'
/** An earlier version wrote the pages, or a repair dropped the tables. */
export const noTables = 'there was none yet'

/** Rows of a section, in order of their keys. */
export interface SectionRows {
  readonly shape: SectionShape
  readonly rows: readonly Row[]
}

export class TableSet {
  readonly tables: Tables
  readonly #options: PageOptions
  readonly #mark: string
  readonly #reader: PageReader
  #isOpen = false
  #nextNo = 1

  /** Tables with another `mark` are of no use. */
  constructor(options: PageOptions, mark: string) {
    this.#options = options
    this.#mark = mark
    this.#reader = new PageReader({
      ...options,
      path: (no) => this.#path(no),
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
    this.#nextNo = 1 + Math.max(0, ...disk.list(folder).map((name) => numberOf(name) ?? 0))
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

  /** Writes a table of these rows, and of those in the newest tables where they have become many. */
  async write(sections: readonly SectionRows[], latest: Iterable<string>): Promise<readonly TableRef[]> {
    const { refs } = this
    const rows = Math.max(...sections.map((section) => section.rows.length))
    const from = firstTaken(refs, rows, this.#options.tables)
    const taken = this.tables.files.slice(from)
    const draft = await this.#begin()
    try {
      for (const { shape, rows: added } of sections)
        await draft.section(shape, remaining(taken, { shape, added, isOldest: from === 0 }))
      const ref = await draft.finish(latestId([...latest, ...taken.map((file) => file.footer.latest)]))
      return [...refs.slice(0, from), ref]
    } catch (error) {
      await draft.abandon()
      throw error
    }
  }

  close(): void {
    this.#reader.keep(() => false)
  }

  #path(no: number): string {
    return join(this.#options.folder, indexName(no))
  }

  #begin(): Promise<TableDraft> {
    const { disk, ids, root, of, tables } = this.#options
    const no = this.#nextNo
    this.#nextNo += 1
    const header = { v: 1, k: 'index', of, salt: ids.random(4), no, root } as const
    return createTable(disk, this.#path(no), { no, header, mark: this.#mark, blockRows: tables.blockRows })
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
      const isMarked = this.#mark === anyMark || this.tables.files.every(({ footer }) => footer.mark === this.#mark)
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

interface Remaining {
  readonly shape: SectionShape
  readonly added: readonly Row[]
  /** Nothing is older: a removal takes nothing away. */ readonly isOldest: boolean
}

const remaining = (taken: readonly TableFile[], rows: Remaining): Iterable<Row> =>
  taken.length === 0 && !rows.isOldest ? rows.added : allRemaining(taken, rows)

function* allRemaining(taken: readonly TableFile[], { shape, added, isOldest }: Remaining): Generator<Row> {
  const sources: Source[] = [
    ...taken.map((file) => ({ least: undefined, rows: () => file.rows(shape, { order: 'asc', keep: false }) })),
    { least: undefined, rows: () => added.values() },
  ]
  for (const row of merged(sources, shape, 'asc')) if (!isOldest || !isRemoval(shape, row)) yield row
}
