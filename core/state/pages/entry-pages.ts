/** The checkpointed entries of one stream: pages shared by all owners, and which lines hold whose entries. */
import { createCache } from '../../base/cache.js'
import type { Json } from '../../base/schema.js'
import type { StreamEntry } from '../contract.js'
import type { PagesRef } from '../format/manifest.js'
import type { CheckpointedEntries, DirtyEntries } from '../memory/stream.js'
import type { Row } from '../tables/rows.js'
import { EntryChanges, extentRows } from './entry-changes.js'
import { entryRow, extentOf, extentOfLine, extentSection, lastIn, type EntryLine, type Extent } from './entry-codec.js'
import type { PageOptions } from './page-file.js'
import { PageStore, type Loaded, type PageLoader, type PagesDraft } from './page-store.js'
import type { Target } from './target.js'

/** Most bytes of a line that is kept for the next reader: of ordinary entries a line has not half as many. */
const mostKept = 256 * 1024
/** Owners whose length is kept for the next reader. */
const keptLengths = 4096

export class EntryPages<E extends Json> implements CheckpointedEntries<E> {
  readonly #store: PageStore<EntryLine<E>>
  readonly #cache = createCache<readonly E[]>(64)
  readonly #lengths = createCache<number>(keptLengths)
  readonly #firsts = createCache<number>(keptLengths)
  #hasFallen = false

  constructor(options: PageOptions) {
    this.#store = new PageStore(options, ['extents'])
  }

  length(owner: string): number {
    const known = this.#lengths.get(owner)
    if (known !== undefined) return known
    const length = this.#lengthOf(owner)
    this.#lengths.set(owner, length)
    return length
  }

  first(owner: string): number {
    if (!this.#hasFallen) return 1
    const known = this.#firsts.get(owner)
    if (known !== undefined) return known
    const first = this.#firstOf(owner) ?? this.length(owner) + 1
    this.#firsts.set(owner, first)
    return first
  }

  #firstOf(owner: string): number | undefined {
    for (const file of this.#store.tables.files) {
      if (file.group(extentSection, owner) === undefined) continue
      for (const row of file.rows(extentSection, { from: { key: [owner], side: 'before' }, order: 'asc' })) {
        if (row[0] !== owner) break
        const { first, count } = extentOf(row)
        if (count > 0) return first
      }
    }
    return undefined
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
    this.#hasFallen = ref.kept?.fell !== undefined
    return this.#store.load(ref, loader())
  }

  /** Writes what was added; undefined if there is nothing to write. */
  write(dirty: DirtyEntries, target: Target): Promise<PagesDraft | undefined> {
    const forget = (): void => {
      for (const owner of dirty.owners.keys()) this.#lengths.delete(owner)
      if (target.fall === 0) return
      this.#hasFallen = true
      this.#firsts.clear()
    }
    return this.#store.write(new EntryChanges(this.#store.tables, { dirty, target, forget }), target)
  }

  /** Lines on pages of a partition. */
  *linesIn(part: number): Iterable<EntryLine<E>> {
    const { pages } = this.#store
    for (const ref of pages.refs.filter((one) => one.part === part))
      for (const [line] of pages.scanSound(ref)) if (line.entries.length > 0) yield line
  }

  tableFiles(): readonly string[] {
    return this.#store.tableFiles()
  }

  close(): void {
    this.#store.close()
  }

  #lengthOf(owner: string): number {
    const row = this.#store.tables.findLast(extentSection, [owner])
    return row === undefined ? 0 : lastIn(extentOf(row))
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
        if (lastIn(extent) <= after) return found.reverse()
        if (extent.count > 0) found.push(extent)
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

const loader = <E>(): PageLoader<EntryLine<E>> => ({
  order: 'oldest first',
  readOpen: () => undefined,
  begin: () => {
    const rows: Row[] = []
    return {
      rows: () => extentRows(rows),
      get size() {
        return rows.length
      },
      addLine: (line, location) => rows.push(entryRow(line.owner, extentOfLine(line, location))) > 0,
      drop: extentOf,
    }
  },
  needless: () => [],
})
