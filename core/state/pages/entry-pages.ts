/** The checkpointed entries of one stream: pages shared by all owners, and which lines hold whose entries. */
import type { Json } from '../../base/schema.js'
import type { StreamEntry } from '../contract.js'
import type { PagesRef } from '../format/manifest.js'
import type { CheckpointedEntries, DirtyEntries } from '../memory/stream.js'
import { createCache } from '../../base/cache.js'
import { cutLines, entryRow, entryText, extentOf, type EntryLine, type EntryRow } from './entry-codec.js'
import { ExtentTable, type Extent } from './extent-table.js'
import type { PageOptions } from './page-file.js'
import { PageStore, type Loaded, type PageChanges, type PageLoader, type PagesDraft } from './page-store.js'

/** Most bytes of a line that is kept for the next reader: of ordinary entries a line has not half as many. */
const mostKept = 256 * 1024

export class EntryPages<E extends Json> implements CheckpointedEntries<E> {
  readonly #store: PageStore<EntryLine<E>, EntryRow>
  readonly #table = new ExtentTable()
  readonly #cache = createCache<readonly E[]>(64)

  constructor(options: PageOptions) {
    this.#store = new PageStore(options, 'extents')
  }

  length(owner: string): number {
    return this.#table.length(owner)
  }

  owners(): Iterable<string> {
    return this.#table.owners()
  }

  read(owner: string, after: number, upto: number): StreamEntry<E>[] {
    const found: StreamEntry<E>[] = []
    for (const extent of this.#table.range(owner, after, upto)) {
      const first = Math.max(after + 1, extent.first)
      const entries = this.#entriesOf(extent).slice(first - extent.first, upto - extent.first + 1)
      entries.forEach((entry, at) => found.push({ seq: first + at, entry }))
    }
    return found
  }

  load(ref: PagesRef): Loaded {
    return this.#store.load(ref, loaderInto(this.#table))
  }

  /** Writes what was added; undefined if there is nothing to write. */
  write(dirty: DirtyEntries): Promise<PagesDraft | undefined> {
    return this.#store.write(changesOf(this.#table, dirty))
  }

  close(): void {
    this.#store.pages.close()
  }

  #entriesOf(extent: Extent): readonly E[] {
    const key = `${extent.page}:${extent.offset}`
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const { entries } = this.#store.pages.read(extent)
    if (extent.length <= mostKept) this.#cache.set(key, entries)
    return entries
  }
}

const loaderInto = <E>(table: ExtentTable): PageLoader<EntryLine<E>, EntryRow> => ({
  order: 'oldest first',
  addRow: (row) => table.add(row[0], extentOf(row)),
  addLine: ({ owner, from, entries }, location) =>
    table.add(owner, { ...location, first: from, count: entries.length }),
  finish: () => undefined,
})

const changesOf = (table: ExtentTable, { owners }: DirtyEntries): PageChanges<EntryRow> => {
  const written: EntryRow[] = []
  return {
    isEmpty: owners.size === 0,
    write: async (page) => {
      for (const [owner, { first, texts }] of owners)
        for (const { start, end } of cutLines(texts)) {
          const location = await page.add(entryText(owner, first + start, texts.slice(start, end)))
          written.push(entryRow(owner, { ...location, first: first + start, count: end - start }))
        }
    },
    rows: () => written,
    outgrows: () => false,
    keptRows: () => rowsIn(table),
    apply: () => written.forEach((row) => table.add(row[0], extentOf(row))),
  }
}

const rowsIn = function* (table: ExtentTable): Iterable<EntryRow> {
  for (const owner of table.owners())
    for (const extent of table.range(owner, 0, Infinity)) yield entryRow(owner, extent)
}
