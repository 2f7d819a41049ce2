/**
 * What checkpoints keep of one collection or stream: pages of lines, and tables that say where each line that counts
 * is. Records and entries differ in their lines and rows alone.
 */
import { noProgress } from '../../base/text/progress.js'
import type { Pause } from '../../base/turns.js'
import type { Fault } from '../format/line.js'
import type { PageRef, PagesRef } from '../format/manifest.js'
import type { Tables } from '../tables/tables.js'
import type { PageDraft } from './page-draft.js'
import { makePagesFolder, type Location, type PageOptions, type ReadOrder } from './page-file.js'
import { PageSet } from './page-set.js'
import type { PartRows, RowSet } from './row-set.js'
import type { Row } from '../tables/rows.js'
import { TableSet } from './table-set.js'
import { keptBehind, stays, type Target } from './target.js'

export interface Loaded {
  /** Everything is there, or says that it is damaged when it is read. */
  readonly whole: boolean
  readonly rebuilt: string | undefined
  readonly damage: Fault | undefined
}

/** Takes what a page store holds into memory at start, and makes the rows of lines whose tables cannot be used. */
export interface PageLoader<Line> {
  /** The order in which it takes lines. */
  readonly order: ReadOrder
  /** Reads what belongs into memory; the first damage among the lines that it had to read. */
  readOpen(): Fault | undefined
  /** Rows of many lines that are taken one after the other. */
  begin(): LoadedRows<Line>
  /** When every line was taken: rows in the tables that are to be dropped. */
  needless(): Iterable<Row>
}

export interface LoadedRows<Line> {
  readonly size: number
  /** True if the line counts; `drop` may say later that it does not. */
  addLine(line: Line, location: Location): boolean
  drop(row: Row): Location
  rows(): RowSet
}

/** What one checkpoint changes. */
export interface PageChanges {
  readonly isEmpty: boolean
  /** Writes the lines; returns the rows that tell of them, those of each partition for themselves. */
  write(page: PageDraft): Promise<readonly PartRows[]>
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

/** Lines whose rows are made at once where tables are made again: no more of them are in memory. */
const rebuiltAtOnce = 16_384

/** What a store does beside keeping what is in it. */
export type Upkeep = Pick<PageStore<unknown>, 'merge' | 'tableFiles' | 'mergedFiles' | 'close'>

export class PageStore<Line> {
  readonly pages: PageSet<Line>
  readonly #options: PageOptions
  readonly #tables: TableSet
  #isStale = false
  /** Its name is durable. */
  #hasFolder = false

  constructor(options: PageOptions, marks: readonly string[]) {
    this.pages = new PageSet(options)
    this.#options = options
    this.#tables = new TableSet(options, marks)
  }

  get tables(): Tables {
    return this.#tables.tables
  }

  /** Tables that cannot be used are made again. */
  async load({ pages, tables }: PagesRef, loader: PageLoader<Line>): Promise<Loaded> {
    this.pages.load(pages)
    const short = this.pages.missing()
    if (short !== undefined) return withFaults([short])
    if (pages.length === 0 && tables.length === 0) return sound
    let damage: Fault | undefined
    const why = this.#tables.load(tables, () => {
      damage = loader.readOpen()
    })
    if (why === undefined) return { ...sound, damage }
    const faults = await this.#tryRebuild(loader)
    const found = loader.readOpen()
    return {
      ...withFaults(found === undefined ? faults : [...faults, found]),
      rebuilt: `index of ${this.#options.of}: ${why}`,
    }
  }

  /** Writes what changed; undefined if there is nothing to write. */
  async write(changes: PageChanges, target: Target): Promise<PagesDraft | undefined> {
    if (changes.isEmpty && !this.#isStale && !this.#tables.hasMerged && target.fall === 0) return undefined
    const page = this.pages.draft(target)
    try {
      if (!this.#hasFolder) await makePagesFolder(this.#options)
      this.#hasFolder = true
      const rows = await changes.write(page)
      const fallen = this.tables.files.filter((file) => !stays(target, file.ref)).map((file) => file.footer.latest)
      const tables = await this.#tables.write(rows, target)
      const ref: PagesRef = { tables, pages: await page.finish(), index: null, ...keptBehind(target, fallen) }
      await this.#options.disk.syncFolder(this.#options.folder)
      return { ref, apply: () => this.#apply(ref, changes) }
    } catch (error) {
      await page.abandon()
      throw error
    }
  }

  /** Makes one of tables that have become many; the next `write` names it. */
  merge(pause: Pause): Promise<void> {
    return this.#tables.merge(pause)
  }

  tableFiles(): readonly string[] {
    return this.#tables.paths
  }

  /** Tables that others became, or are about to become, and no manifest names. */
  mergedFiles(): readonly string[] {
    return this.#tables.mergedPaths
  }

  close(): void {
    this.pages.close()
    this.#tables.close()
  }

  /** Without room for tables nothing can be looked up: that is no damage of the pages, and ends with room. */
  async #tryRebuild(loader: PageLoader<Line>): Promise<readonly Fault[]> {
    try {
      return await this.#rebuild(loader)
    } catch (error) {
      const why = error instanceof Error ? error.message : 'for a reason that nobody told'
      return [{ file: this.#options.folder, offset: 0, rule: `its index cannot be made again: ${why}` }]
    }
  }

  /** Writes tables of every sound line of the pages, and counts what is of use; returns what cannot be read. */
  async #rebuild(loader: PageLoader<Line>): Promise<readonly Fault[]> {
    const { refs } = this.pages
    const { progress = noProgress, of } = this.#options
    progress.begin(
      `index of ${of}`,
      refs.reduce((sum, { length }) => sum + length, 0),
    )
    const faults: Fault[] = []
    let rows = loader.begin()
    const live = new Map<number, number>()
    const count = ({ page, length }: Location, sign: 1 | -1): void =>
      void live.set(page, (live.get(page) ?? 0) + sign * length)
    const put = async (page: PageRef | undefined): Promise<void> => {
      this.#tables.apply(await this.#tables.add({ rows: rows.rows(), part: page?.part }))
      await this.#tables.settle()
      rows = loader.begin()
    }
    const ordered = loader.order === 'newest first' ? refs.toReversed() : refs
    for (const [at, page] of ordered.entries()) {
      const scan = this.pages.scan(page, loader.order)
      faults.push(...scan.faults)
      for (const [line, location] of scan.lines) {
        if (rows.addLine(line, location)) count(location, 1)
        if (rows.size >= rebuiltAtOnce) await put(page)
      }
      progress.advance(page.length)
      if (rows.size > 0 && ordered[at + 1]?.part !== page.part) await put(page)
    }
    if (rows.size > 0 || this.#tables.refs.length === 0) await put(ordered.at(-1))
    for (const row of loader.needless()) {
      count(rows.drop(row), -1)
      if (rows.size >= rebuiltAtOnce) await put(undefined)
    }
    if (rows.size > 0) await put(undefined)
    this.pages.recount(live)
    this.#isStale = true
    progress.end()
    return faults
  }

  #apply({ pages, tables }: PagesRef, changes: PageChanges): void {
    this.#tables.apply(tables)
    changes.apply()
    this.pages.apply(pages)
    this.#isStale = false
  }
}
