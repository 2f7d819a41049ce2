/** The checkpointed entries of one stream: pages shared by all owners, and which lines hold whose entries. */
import { createCache } from '../../base/memory/cache.js'
import type { Json } from '../../base/schema.js'
import type { StreamEntry } from '../contract.js'
import type { PagesRef } from '../format/manifest.js'
import type { CheckpointedEntries, DirtyEntries } from '../memory/stream.js'
import type { Row } from '../tables/rows.js'
import { EntryChanges, extentRows } from './entry-changes.js'
import { entryRow, extentOf, extentOfLine, extentSection, lastIn, type EntryLine, type Extent } from './entry-codec.js'
import type { PageOptions } from './page-file.js'
import { PageStore, type Loaded, type PageLoader, type PagesDraft, type Upkeep } from './page-store.js'
import type { Target } from './target.js'

/** Most bytes of a line that is kept for the next reader: of ordinary entries a line has not half as many. */
const mostKept = 256 * 1024
/** Owners whose length, and the extent that was read last, are kept for the next reader. */
const keptOwners = 4096

export class EntryPages<E extends Json> implements CheckpointedEntries<E> {
  readonly #store: PageStore<EntryLine<E>>
  readonly #cache = createCache<readonly E[]>(64)
  readonly #lengths = createCache<number>(keptOwners)
  readonly #firsts = createCache<number>(keptOwners)
  /** Of each owner the extent that was read last: what is asked for next is mostly in it too, and no table is read. */
  readonly #lasts = createCache<Extent>(keptOwners)
  #hasFallen = false
  /** The place of the table in which an extent was found last: neighbours are often in one table. */
  #near = 0

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
      this.#lasts.clear()
    }
    return this.#store.write(new EntryChanges(this.#store.tables, { dirty, target, forget }), target)
  }

  /** Lines on pages of a partition. */
  *linesIn(part: number): Iterable<EntryLine<E>> {
    const { pages } = this.#store
    for (const ref of pages.refs.filter((one) => one.part === part))
      for (const [line] of pages.scanSound(ref)) if (line.entries.length > 0) yield line
  }

  get upkeep(): Upkeep {
    return this.#store
  }

  #lengthOf(owner: string): number {
    const row = this.#store.tables.findLast(extentSection, [owner])
    return row === undefined ? 0 : lastIn(extentOf(row))
  }

  /** The extents that hold entries with `after < seq <= upto`, oldest first. */
  #extents(owner: string, after: number, upto: number): readonly Extent[] {
    const last = this.#lasts.get(owner)
    if (last !== undefined && last.first <= after + 1 && upto <= lastIn(last)) return [last]
    const found = this.#find(owner, after, upto)
    const [only] = found
    if (only !== undefined && found.length === 1) this.#lasts.set(owner, only)
    return found
  }

  /** The same, looked for in the tables; the newest are found first. */
  #find(owner: string, after: number, upto: number): readonly Extent[] {
    const { files } = this.#store.tables
    const last = this.#nearby(owner, upto)
    if (last !== undefined && last.first <= after + 1) return [last]
    const found: Extent[] = []
    const from = { key: [owner, upto], side: 'behind' } as const
    const place = this.#placeOf(owner, upto)
    this.#near = Math.max(0, place)
    for (let at = place; at >= 0; at -= 1) {
      const file = files[at]
      if (file?.group(extentSection, owner) === undefined) continue
      for (const row of file.rows(extentSection, { from, order: 'desc' })) {
        const extent = extentOf(row)
        if (row[0] !== owner) break
        if (lastIn(extent) <= after) return found.reverse()
        if (extent.count > 0) found.push(extent)
        if (extent.first <= after + 1) return found.reverse()
      }
    }
    return found.reverse()
  }

  /** The extent with an entry, if it is in the table that was of use last. Each entry is in one extent. */
  #nearby(owner: string, seq: number): Extent | undefined {
    const row = this.#store.tables.files[this.#near]?.lastBefore(extentSection, { key: [owner, seq], side: 'behind' })
    if (row === undefined || row[0] !== owner) return undefined
    const extent = extentOf(row)
    return extent.count > 0 && lastIn(extent) >= seq ? extent : undefined
  }

  /**
   * The place of the newest table in which an owner has an extent that begins at or before an entry. What a newer table
   * has of an owner is behind what older ones have, so half of the tables can be passed over at a time.
   */
  #placeOf(owner: string, seq: number): number {
    let [low, high] = [0, this.#store.tables.files.length - 1]
    let place = -1
    while (low <= high) {
      let middle = (low + high) >>> 1
      const half = middle
      let first = this.#firstIn(middle, owner)
      while (first === undefined && middle > low) first = this.#firstIn((middle -= 1), owner)
      if (first !== undefined && first > seq) high = middle - 1
      else low = half + 1
      if (first !== undefined && first <= seq) place = middle
    }
    return place
  }

  /** Where the entries of an owner begin in a table. */
  #firstIn(place: number, owner: string): number | undefined {
    const file = this.#store.tables.files[place]
    const info = file?.group(extentSection, owner)
    if (file === undefined || info === undefined) return undefined
    if (info !== 'unknown') return extentOf(info.first).first
    const [row] = file.rows(extentSection, { from: { key: [owner], side: 'before' }, order: 'asc' })
    return row?.[0] === owner ? extentOf(row).first : undefined
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
