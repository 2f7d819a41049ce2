/** The checkpointed entries of one stream: pages shared by all owners, and which lines hold whose entries. */
import { createCache } from '../../base/cache.js'
import type { Json } from '../../base/schema.js'
import type { StreamEntry } from '../contract.js'
import type { PagesRef } from '../format/manifest.js'
import type { CheckpointedEntries, DirtyEntries } from '../memory/stream.js'
import { compareKeys, type Row } from '../tables/rows.js'
import { cutLines, entryRow, entryText, extentOf, extentSection, type EntryLine, type Extent } from './entry-codec.js'
import type { PageOptions } from './page-file.js'
import { PageStore, type Loaded, type PageChanges, type PageLoader, type PagesDraft } from './page-store.js'

/** Most bytes of a line that is kept for the next reader: of ordinary entries a line has not half as many. */
const mostKept = 256 * 1024
/** Owners whose length is kept for the next reader. */
const keptLengths = 4096

export class EntryPages<E extends Json> implements CheckpointedEntries<E> {
  readonly #store: PageStore<EntryLine<E>>
  readonly #cache = createCache<readonly E[]>(64)
  readonly #lengths = createCache<number>(keptLengths)

  constructor(options: PageOptions) {
    this.#store = new PageStore(options, 'extents')
  }

  length(owner: string): number {
    const known = this.#lengths.get(owner)
    if (known !== undefined) return known
    const length = this.#lengthOf(owner)
    this.#lengths.set(owner, length)
    return length
  }

  owners(): Iterable<string> {
    return this.#store.tables.groups(extentSection)
  }

  read(owner: string, after: number, upto: number): StreamEntry<E>[] {
    const found: StreamEntry<E>[] = []
    for (const extent of this.#extents(owner, after, upto)) {
      const first = Math.max(after + 1, extent.first)
      const entries = this.#entriesOf(extent).slice(first - extent.first, upto - extent.first + 1)
      entries.forEach((entry, at) => found.push({ seq: first + at, entry }))
    }
    return found
  }

  load(ref: PagesRef): Promise<Loaded> {
    return this.#store.load(ref, loader())
  }

  /** Writes what was added; undefined if there is nothing to write. */
  write(dirty: DirtyEntries): Promise<PagesDraft | undefined> {
    const forget = (): void => {
      for (const owner of dirty.owners.keys()) this.#lengths.delete(owner)
    }
    return this.#store.write(changesOf(dirty, forget))
  }

  tableFiles(): readonly string[] {
    return this.#store.tableFiles()
  }

  close(): void {
    this.#store.close()
  }

  #lengthOf(owner: string): number {
    const row = this.#store.tables.findLast(extentSection, [owner])
    if (row === undefined) return 0
    const { first, count } = extentOf(row)
    return first + count - 1
  }

  /** The extents that hold entries with `after < seq <= upto`, oldest first; the newest are found first. */
  #extents(owner: string, after: number, upto: number): readonly Extent[] {
    const found: Extent[] = []
    const from = { key: [owner, upto], side: 'behind' } as const
    for (const file of this.#store.tables.files.toReversed()) {
      if (file.group(extentSection, owner) === undefined) continue
      for (const row of file.rows(extentSection, { from, order: 'desc' })) {
        const extent = extentOf(row)
        if (row[0] !== owner) break
        if (extent.first + extent.count - 1 <= after) return found.reverse()
        found.push(extent)
      }
    }
    return found.reverse()
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

const sections = (rows: Row[]) => [{ shape: extentSection, rows: rows.sort((a, b) => compareKeys(a, b, 2)) }]

const loader = <E>(): PageLoader<EntryLine<E>> => ({
  order: 'oldest first',
  readOpen: () => undefined,
  begin: () => {
    const rows: Row[] = []
    return {
      ids: () => [],
      sections: () => sections(rows),
      get size() {
        return rows.length
      },
      addLine: ({ owner, from, entries }, location) =>
        void rows.push(entryRow(owner, { ...location, first: from, count: entries.length })),
    }
  },
})

const changesOf = ({ owners }: DirtyEntries, apply: () => void): PageChanges => {
  const written: Row[] = []
  return {
    isEmpty: owners.size === 0,
    write: async (page) => {
      for (const [owner, { first, texts }] of owners)
        for (const { start, end } of cutLines(texts)) {
          const location = await page.add(entryText(owner, first + start, texts.slice(start, end)))
          written.push(entryRow(owner, { ...location, first: first + start, count: end - start }))
        }
    },
    ids: () => [],
    sections: () => sections(written),
    apply,
  }
}
