/**
 * What checkpoints keep of one collection or stream: pages, and an index file with a row for each line that counts.
 * Records and entries differ in their lines and rows alone.
 */
import type { Fault } from '../format/line.js'
import type { IndexRef, PagesRef } from '../format/manifest.js'
import { createIndexFiles, type IndexFiles } from './index-file.js'
import type { PageDraft } from './page-draft.js'
import { makePagesFolder, type Location, type PageOptions, type ReadOrder } from './page-file.js'
import { PageSet } from './page-set.js'

export interface Loaded {
  /** Everything is there, or says that it is damaged when it is read. */
  readonly whole: boolean
  readonly rebuilt: string | undefined
  readonly damage: Fault | undefined
}

/** Takes what a page store holds into memory at start: rows of the index, or lines where it cannot be used. */
export interface PageLoader<Line, Row> {
  /** The order in which it takes them. */
  readonly order: ReadOrder
  addRow(row: Row): void
  addLine(line: Line, location: Location): void
  /** Everything was given; the first damage among the lines that it had to read then. */
  finish(): Fault | undefined
}

/** What one checkpoint changes. */
export interface PageChanges<Row> {
  readonly isEmpty: boolean
  write(page: PageDraft): Promise<void>
  /** Rows of the lines that were written. */
  rows(): Iterable<Row>
  /** True if an index with so many rows is to be written anew. */
  outgrows(rows: number): boolean
  /** Rows of older lines that still count: some of the `old` ones, which are absent if they cannot be read. */
  keptRows(old: Iterable<readonly Row[]> | undefined): Iterable<Row>
  /** They are durable: readers get them from now on. */
  apply(): void
}

/** What a checkpoint wrote; it counts once the manifest names it and `apply` was called. */
export interface PagesDraft {
  readonly ref: PagesRef
  apply(): void
}

const sound: Loaded = { whole: true, rebuilt: undefined, damage: undefined }

/** What cannot be read is damage. */
export const withFaults = (faults: readonly Fault[]): Loaded => ({
  ...sound,
  whole: faults.length === 0,
  damage: faults[0],
})

export class PageStore<Line, Row> {
  readonly pages: PageSet<Line>
  readonly #options: PageOptions
  readonly #files: IndexFiles<Row>
  #index: IndexRef | undefined

  /** An index with another `mark` is made again. */
  constructor(options: PageOptions, mark: string) {
    this.pages = new PageSet(options)
    this.#options = options
    this.#files = createIndexFiles(options, mark)
  }

  load({ pages, index }: PagesRef, loader: PageLoader<Line, Row>): Loaded {
    this.pages.load(pages)
    const short = this.pages.missing()
    if (short !== undefined) return withFaults([short])
    const read = index === null ? undefined : this.#files.read(index)
    if (index !== null && read?.ok === true) {
      for (const batch of read.batches(loader.order)) for (const row of batch) loader.addRow(row)
      this.#index = index
      return { ...sound, damage: loader.finish() }
    }
    if (pages.length === 0) return sound
    const why = read === undefined || read.ok ? 'the index was missing' : read.fault.rule
    return { ...withFaults(this.#rebuild(loader)), rebuilt: `index of ${this.#options.of}: ${why}` }
  }

  /** Writes what changed; undefined if there is nothing to write. */
  async write(changes: PageChanges<Row>): Promise<PagesDraft | undefined> {
    const isStale = this.#index === undefined && this.pages.refs.length > 0
    if (changes.isEmpty && !isStale) return undefined
    const page = this.pages.draft()
    try {
      await makePagesFolder(this.#options)
      await changes.write(page)
      const ref: PagesRef = { index: await this.#writeIndex(changes), pages: await page.finish() }
      await this.#options.disk.syncFolder(this.#options.folder)
      return { ref, apply: () => this.#apply(ref, changes) }
    } catch (error) {
      await page.abandon()
      throw error
    }
  }

  /** Takes every sound line of the pages; returns what cannot be read. */
  #rebuild(loader: PageLoader<Line, Row>): readonly Fault[] {
    const { refs } = this.pages
    const faults = (loader.order === 'newest first' ? refs.toReversed() : refs).flatMap((ref) => {
      const { lines, faults } = this.pages.scan(ref, loader.order)
      for (const [line, location] of lines) loader.addLine(line, location)
      return faults
    })
    loader.finish()
    return faults
  }

  /** Adds rows to the index, or writes it anew. */
  async #writeIndex(changes: PageChanges<Row>): Promise<IndexRef> {
    const current = this.#index
    const goesOn = current !== undefined && !changes.outgrows(current.rows)
    const draft = await this.#files.draft(goesOn ? current : undefined)
    try {
      if (!goesOn) for (const row of changes.keptRows(this.#oldRows())) await draft.add(row)
      for (const row of changes.rows()) await draft.add(row)
      return await draft.finish()
    } catch (error) {
      await draft.abandon()
      throw error
    }
  }

  #oldRows(): Iterable<readonly Row[]> | undefined {
    const read = this.#index === undefined ? undefined : this.#files.read(this.#index)
    return read?.ok === true ? read.batches('oldest first') : undefined
  }

  #apply({ pages, index }: PagesRef, changes: PageChanges<Row>): void {
    changes.apply()
    this.pages.apply(pages)
    this.#index = index ?? undefined
  }
}
