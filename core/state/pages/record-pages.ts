/** The checkpointed records of one collection: pages, the index file, and where each record stands. */
import type { DirtyRecord, DirtyRecords, CheckpointedRecords, StoredCollection } from '../memory/collection.js'
import type { Fault } from '../format/line.js'
import { unsafeCast } from '../../base/schema.js'
import { createCache } from '../../base/cache.js'
import { createIndexFiles, fingerprint, readIndex, type IndexDraft } from './index-file.js'
import { createFileLines } from '../format/file-lines.js'
import { faultIn, lengthAt, scanLineFile, valueAt } from '../format/line-file.js'
import type { IndexRef, PagesRef } from '../format/manifest.js'
import { createPageSet, makePagesFolder, type Location, type PageDraft, type PageSetOptions } from './page-set.js'
import type { Place } from '../memory/record-index.js'
import { createRowTable } from './row-table.js'

/** `[id, page, offset, length, settled, group, sort, group, sort, …]`; a null group: left out; a null sort: the id. */
type Row = readonly [string, number, number, number, 0 | 1, ...(string | null)[]]
interface PageLine<T> {
  readonly id: string
  readonly r: T
}

/** What a checkpoint wrote; it counts once the manifest names it and `apply` was called. */
export interface PagesDraft {
  readonly ref: PagesRef
  apply(): void
}

export interface Loaded {
  /** Everything is there, or says that it is damaged when it is read. */
  readonly whole: boolean
  readonly rebuilt: string | undefined
  readonly damage: Fault | undefined
  readonly lost: readonly Fault[]
}

export interface RecordPages<T extends object> extends CheckpointedRecords<T> {
  load(ref: PagesRef, collection: StoredCollection<T>, acceptLoss: boolean): Loaded
  /** Writes what changed; undefined if there is nothing to write. */
  write(dirty: DirtyRecords<T>, collection: StoredCollection<T>): Promise<PagesDraft | undefined>
  readonly size: number
  close(): Promise<void>
}

const toPlaces = (id: string, row: Row): Place[] => {
  const places: Place[] = []
  for (let at = 5; at < row.length; at += 2)
    places.push({
      group: unsafeCast<string | null>(row[at]) ?? undefined,
      sort: unsafeCast<string | null>(row[at + 1]) ?? id,
    })
  return places
}
const toRow = (
  id: string,
  { page, offset, length }: Location,
  { settled, places }: { settled: boolean; places: readonly Place[] },
): Row => [
  id,
  page,
  offset,
  length,
  settled ? 1 : 0,
  ...places.flatMap(({ group, sort }) => [group ?? null, sort === id ? null : sort]),
]

const isAt = (a: Location | undefined, b: Location): boolean =>
  a !== undefined && a.page === b.page && a.offset === b.offset

/** The most pages one checkpoint copies together. */
const mostCopied = 4

export const createRecordPages = <T extends object>(
  options: PageSetOptions,
  spec: StoredCollection<T>['spec'],
): RecordPages<T> => {
  const { disk } = options
  const pages = createPageSet(options)
  const files = createIndexFiles<Row>({ ...options, mark: fingerprint(spec) })
  const table = createRowTable()
  const cache = createCache<T>(512)
  let index: IndexRef | undefined

  const lineOf = (location: Location): PageLine<T> => unsafeCast<PageLine<T>>(pages.read(location))
  const read = (id: string): T => {
    const known = cache.get(id)
    if (known !== undefined) return known
    const location = table.get(id)
    const record = lineOf(unsafeCast<Location>(location)).r
    cache.set(id, record)
    return record
  }
  const settled = (record: T): boolean => spec.settled?.(record) === true
  const describe = (id: string, record: T, collection: StoredCollection<T>) => ({
    settled: settled(record),
    places: collection.places(id, record),
  })

  const loadRow = (row: Row, collection: StoredCollection<T>, hot: string[]): void => {
    const [id, page, offset, length, cold] = row
    if (table.has(id) || collection.isDeleted(id)) return
    table.set(id, { page, offset, length })
    collection.loadPlaces(id, toPlaces(id, row))
    if (cold === 0) hot.push(id)
  }
  const rebuildPage = (no: number, counted: number, collection: StoredCollection<T>): readonly Fault[] => {
    const file = pages.path(no)
    const lines = createFileLines(disk, file)
    const { starts, faults } = scanLineFile(lines, counted)
    for (const offset of starts.toReversed()) {
      const { id, r: record } = unsafeCast<PageLine<T>>(valueAt(lines, offset))
      if (table.has(id) || collection.isDeleted(id)) continue
      table.set(id, { page: no, offset, length: lengthAt(lines, offset) })
      collection.loadPlaces(id, collection.places(id, record))
      if (!settled(record)) collection.loadHot(id, record)
    }
    return faults
  }
  /** Newest line first, so that the first one seen of an id is the one that counts. */
  const rebuild = (collection: StoredCollection<T>): readonly Fault[] =>
    pages.pages.toReversed().flatMap(({ no, length }) => rebuildPage(no, length, collection))
  /** Reads open records into memory; returns the first that is damaged. */
  const loadHot = (ids: readonly string[], collection: StoredCollection<T>): Fault | undefined => {
    let first: Fault | undefined
    for (const id of ids) {
      try {
        collection.loadHot(id, lineOf(unsafeCast<Location>(table.get(id))).r)
      } catch (error) {
        const fault = faultIn(error)
        if (fault === undefined) throw error
        first ??= fault
      }
    }
    return first
  }
  const load = (ref: PagesRef, collection: StoredCollection<T>, acceptLoss: boolean): Loaded => {
    pages.load(ref.pages)
    const read =
      ref.index === null
        ? undefined
        : readIndex<Row>(disk, files.path(ref.index.no), { length: ref.index.length, mark: fingerprint(spec) })
    const short = pages.missing()
    if (short !== undefined && !acceptLoss) return { whole: false, rebuilt: undefined, damage: short, lost: [] }
    if (read?.ok === true && ref.index !== null && short === undefined) {
      const hot: string[] = []
      for (const batch of read.newestFirst()) for (const row of batch.toReversed()) loadRow(row, collection, hot)
      const damage = loadHot(hot, collection)
      index = ref.index
      collection.settleIndexes()
      return { whole: true, rebuilt: undefined, damage, lost: [] }
    }
    if (ref.pages.length === 0) return { whole: true, rebuilt: undefined, damage: undefined, lost: [] }
    const faults = rebuild(collection)
    collection.settleIndexes()
    const why = read === undefined || read.ok ? 'the index was missing' : read.fault.rule
    return {
      whole: faults.length === 0,
      rebuilt: `index of ${spec.name}: ${why}`,
      damage: acceptLoss ? undefined : faults[0],
      lost: acceptLoss ? faults : [],
    }
  }
  const writeRecord = async (draft: Work, id: string, { record, text }: DirtyRecord<T>): Promise<void> => {
    const before = draft.moved.get(id) ?? table.get(id)
    const location = await draft.page.add(`{"id":${JSON.stringify(id)},"r":${text ?? JSON.stringify(record)}`)
    if (before !== undefined) draft.page.release(before)
    draft.moved.set(id, location)
  }
  /** Copies what still counts of a page that is mostly dead. */
  const copyPage = async (draft: Work, no: number, dirty: DirtyRecords<T>): Promise<[string, T][]> => {
    const lines = createFileLines(disk, pages.path(no))
    const { starts } = scanLineFile(lines, pages.pages.find((ref) => ref.no === no)?.length ?? 0)
    const copied: [string, T][] = []
    for (const offset of starts) {
      const { id, r: record } = unsafeCast<PageLine<T>>(valueAt(lines, offset))
      if (draft.moved.has(id) || dirty.tombstones.has(id) || !isAt(table.get(id), { page: no, offset, length: 0 }))
        continue
      await writeRecord(draft, id, { record, text: undefined })
      copied.push([id, record])
    }
    return copied
  }
  interface Work {
    readonly page: PageDraft
    readonly moved: Map<string, Location>
  }

  const writePages = async (work: Work, dirty: DirtyRecords<T>): Promise<[string, T][]> => {
    for (const [id, record] of dirty.records) await writeRecord(work, id, record)
    for (const id of dirty.tombstones.keys()) {
      const before = table.get(id)
      if (before !== undefined && !work.moved.has(id)) work.page.release(before)
    }
    const copied: [string, T][] = []
    for (const no of work.page.wasteful().slice(0, mostCopied)) {
      copied.push(...(await copyPage(work, no, dirty)))
      work.page.drop(no)
    }
    return copied
  }
  const isLive = (row: Row, { moved }: Work, { tombstones }: DirtyRecords<T>): boolean =>
    !moved.has(row[0]) &&
    !tombstones.has(row[0]) &&
    isAt(table.get(row[0]), { page: row[1], offset: row[2], length: row[3] })
  /** Rows that still count, from the old file, or from the records where there is none. */
  const rewriteRows = async (
    rows: IndexDraft<Row>,
    work: Work,
    args: { dirty: DirtyRecords<T>; collection: StoredCollection<T> },
  ): Promise<void> => {
    const { dirty, collection } = args
    const old =
      index === undefined
        ? undefined
        : readIndex<Row>(disk, files.path(index.no), { length: index.length, mark: fingerprint(spec) })
    if (old?.ok === true) {
      for (const batch of old.batches) for (const row of batch) if (isLive(row, work, dirty)) await rows.add(row)
      return
    }
    for (const id of table.ids()) {
      const location = table.get(id)
      if (location === undefined || work.moved.has(id) || dirty.tombstones.has(id)) continue
      const { r: record } = lineOf(location)
      await rows.add(toRow(id, location, describe(id, record, collection)))
    }
  }
  const writeIndex = async (
    work: Work,
    records: readonly (readonly [string, T])[],
    args: { dirty: DirtyRecords<T>; collection: StoredCollection<T> },
  ): Promise<IndexRef> => {
    const tooLong =
      index !== undefined && index.rows + records.length > 1000 + 2 * (table.size + args.dirty.records.size)
    const rewrite = index === undefined || tooLong
    const rows = await files.draft(rewrite ? undefined : index)
    try {
      if (rewrite && table.size > 0) await rewriteRows(rows, work, args)
      for (const [id, record] of records) {
        const location = work.moved.get(id)
        if (location !== undefined) await rows.add(toRow(id, location, describe(id, record, args.collection)))
      }
      return await rows.finish()
    } catch (error) {
      await rows.abandon()
      throw error
    }
  }
  const apply = (work: Work, dirty: DirtyRecords<T>, ref: PagesRef): void => {
    for (const [id, location] of work.moved) {
      table.set(id, location)
      cache.delete(id)
    }
    for (const id of dirty.tombstones.keys()) {
      table.delete(id)
      cache.delete(id)
    }
    pages.apply(ref.pages)
    index = ref.index ?? undefined
  }
  const write = async (dirty: DirtyRecords<T>, collection: StoredCollection<T>): Promise<PagesDraft | undefined> => {
    const stale = index === undefined && table.size > 0
    if (dirty.records.size === 0 && dirty.tombstones.size === 0 && !stale) return undefined
    const work: Work = { page: pages.draft(), moved: new Map() }
    try {
      await makePagesFolder(disk, options.folder)
      const copied = await writePages(work, dirty)
      const records = [...Array.from(dirty.records, ([id, { record }]) => [id, record] as const), ...copied]
      const ref: PagesRef = {
        index: await writeIndex(work, records, { dirty, collection }),
        pages: await work.page.finish(),
      }
      await disk.syncFolder(options.folder)
      return { ref, apply: () => apply(work, dirty, ref) }
    } catch (error) {
      await work.page.abandon()
      throw error
    }
  }
  return {
    has: (id) => table.has(id),
    ids: table.ids,
    read,
    load,
    write,
    get size() {
      return table.size
    },
    close: () => pages.close(),
  }
}
