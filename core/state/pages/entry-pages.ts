/** The checkpointed entries of one stream: pages shared by all owners, and which lines hold whose entries. */
import { type Json, unsafeCast } from '../../base/schema.js'
import { createCache } from '../../base/cache.js'
import type { StreamEntry, StreamSpec } from '../contract.js'
import { createExtentTable, type Extent } from './extent-table.js'
import { createIndexFiles, readIndex } from './index-file.js'
import type { Fault } from '../format/line.js'
import { createFileLines } from '../format/file-lines.js'
import { lengthAt, scanLineFile, valueAt } from '../format/line-file.js'
import type { IndexRef, PagesRef } from '../format/manifest.js'
import { createPageSet, makePagesFolder, type PageDraft, type PageSetOptions } from './page-set.js'
import type { Loaded, PagesDraft } from './record-pages.js'
import type { CheckpointedEntries, DirtyEntries } from '../memory/stream.js'

/** `[owner, first, count, page, offset, length]` */
type Row = readonly [string, number, number, number, number, number]
interface PageLine<E> {
  readonly owner: string
  readonly from: number
  readonly entries: readonly E[]
}

export interface EntryPages<E> extends CheckpointedEntries<E> {
  load(ref: PagesRef, acceptLoss: boolean): Loaded
  write(dirty: DirtyEntries): Promise<PagesDraft | undefined>
  close(): Promise<void>
}

/** A line of entries is closed behind this many characters, so that a range read stays small. */
const lineCharacters = 64 * 1024
const mark = 'extents'

/** Where the lines of an owner's entries begin and end. */
const cut = (texts: readonly string[]): { start: number; end: number }[] => {
  const pieces: { start: number; end: number }[] = []
  let start = 0
  let size = 0
  texts.forEach((text, at) => {
    size += text.length
    if (size < lineCharacters && at + 1 < texts.length) return
    pieces.push({ start, end: at + 1 })
    start = at + 1
    size = 0
  })
  return pieces
}

export const createEntryPages = <E extends Json>(options: PageSetOptions, spec: StreamSpec<E>): EntryPages<E> => {
  const { disk } = options
  const pages = createPageSet(options)
  const files = createIndexFiles<Row>({ ...options, mark })
  const table = createExtentTable()
  const cache = createCache<readonly E[]>(64)
  let index: IndexRef | undefined

  const entriesOf = (extent: Extent): readonly E[] => {
    const key = `${extent.page}:${extent.offset}`
    const known = cache.get(key)
    if (known !== undefined) return known
    const { entries } = unsafeCast<PageLine<E>>(pages.read(extent))
    cache.set(key, entries)
    return entries
  }
  const read = (owner: string, after: number, upto: number): StreamEntry<E>[] => {
    const found: StreamEntry<E>[] = []
    for (const extent of table.range(owner, after, upto)) {
      const entries = entriesOf(extent)
      const last = Math.min(upto, extent.first + extent.count - 1)
      for (let seq = Math.max(after + 1, extent.first); seq <= last; seq += 1)
        found.push({ seq, entry: unsafeCast<E>(entries[seq - extent.first]) })
    }
    return found
  }
  const addRow = ([owner, first, count, page, offset, length]: Row): void => {
    if (first === table.length(owner) + 1) table.add(owner, { first, count, page, offset, length })
  }
  const rowsOfPage = (no: number, counted: number): { rows: Row[]; faults: readonly Fault[] } => {
    const lines = createFileLines(disk, pages.path(no))
    const { starts, faults } = scanLineFile(lines, counted)
    const rows = starts.map((offset): Row => {
      const { owner, from, entries } = unsafeCast<PageLine<E>>(valueAt(lines, offset))
      return [owner, from, entries.length, no, offset, lengthAt(lines, offset)]
    })
    return { rows, faults }
  }
  const rebuild = (): readonly Fault[] =>
    pages.pages.flatMap(({ no, length }) => {
      const { rows, faults } = rowsOfPage(no, length)
      rows.forEach(addRow)
      return faults
    })
  const load = (ref: PagesRef, acceptLoss: boolean): Loaded => {
    pages.load(ref.pages)
    const short = pages.missing()
    if (short !== undefined && !acceptLoss) return { whole: false, rebuilt: undefined, damage: short, lost: [] }
    const known =
      ref.index === null
        ? undefined
        : readIndex<Row>(disk, files.path(ref.index.no), { length: ref.index.length, mark })
    if (known?.ok === true && ref.index !== null && short === undefined) {
      for (const batch of known.batches) batch.forEach(addRow)
      index = ref.index
      return { whole: true, rebuilt: undefined, damage: undefined, lost: [] }
    }
    if (ref.pages.length === 0) return { whole: true, rebuilt: undefined, damage: undefined, lost: [] }
    const faults = rebuild()
    const why = known === undefined || known.ok ? 'the index was missing' : known.fault.rule
    return {
      whole: faults.length === 0,
      rebuilt: `index of ${spec.name}: ${why}`,
      damage: acceptLoss ? undefined : faults[0],
      lost: acceptLoss ? faults : [],
    }
  }
  const writeOwner = async (
    page: PageDraft,
    owner: string,
    { first, texts }: { first: number; texts: readonly string[] },
  ): Promise<Row[]> => {
    const rows: Row[] = []
    const name = JSON.stringify(owner)
    for (const { start, end } of cut(texts)) {
      const text = `{"owner":${name},"from":${first + start},"entries":[${texts.slice(start, end).join(',')}]`
      const { page: no, offset, length } = await page.add(text)
      rows.push([owner, first + start, end - start, no, offset, length])
    }
    return rows
  }
  const existingRows = (): Row[] => {
    const rows: Row[] = []
    for (const owner of table.owners()) {
      for (const { first, count, page, offset, length } of table.range(owner, 0, Infinity))
        rows.push([owner, first, count, page, offset, length])
    }
    return rows
  }
  const writeIndex = async (rows: readonly Row[]): Promise<IndexRef> => {
    const draft = await files.draft(index)
    try {
      if (index === undefined) for (const row of existingRows()) await draft.add(row)
      for (const row of rows) await draft.add(row)
      return await draft.finish()
    } catch (error) {
      await draft.abandon()
      throw error
    }
  }
  const apply = (rows: readonly Row[], ref: PagesRef): void => {
    rows.forEach(addRow)
    pages.apply(ref.pages)
    index = ref.index ?? undefined
  }
  const write = async (dirty: DirtyEntries): Promise<PagesDraft | undefined> => {
    const stale = index === undefined && pages.pages.length > 0
    if (dirty.owners.size === 0 && !stale) return undefined
    const page = pages.draft()
    try {
      await makePagesFolder(disk, options.folder)
      const rows: Row[] = []
      for (const [owner, entries] of dirty.owners) rows.push(...(await writeOwner(page, owner, entries)))
      const ref: PagesRef = { index: await writeIndex(rows), pages: await page.finish() }
      await disk.syncFolder(options.folder)
      return { ref, apply: () => apply(rows, ref) }
    } catch (error) {
      await page.abandon()
      throw error
    }
  }
  return { length: table.length, owners: table.owners, read, load, write, close: () => pages.close() }
}
