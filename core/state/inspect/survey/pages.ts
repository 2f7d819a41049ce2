/** Tables and pages of collections and streams as a walk over a root reads them. */
import { join } from 'node:path'
import type { Json, JsonObject } from '../../../base/schema.js'
import { createScratch } from '../../disk/scratch.js'
import { pageIdentity, tableIdentity } from '../../format/identity.js'
import { indexName, pageName } from '../../format/layout.js'
import { valueOf } from '../../format/line-file.js'
import type { PageRef, PagesRef } from '../../format/manifest.js'
import { entryRow, extentOf, extentOfLine, extentSection, type EntryLine } from '../../pages/entry-codec.js'
import type { ReadOrder } from '../../pages/page-file.js'
import { idSection, isRemovalLine, locationOf, type PageLine } from '../../pages/record-codec.js'
import { isRemoval } from '../../tables/rows.js'
import type { Tables } from '../../tables/tables.js'
import { createPageRows, type PageRows } from './page-rows.js'
import { digestOf } from './row-digest.js'
import { readLines } from './lines.js'
import { openTables, type Lookup } from './lookup.js'
import type { PagePlace, PageStoreName, SurveyOptions } from './visitor.js'

/** A collection or stream, and its files. */
export interface PageStore extends PageStoreName {
  readonly folder: string
  readonly ref: PagesRef
}

export const pageStores = (kind: PageStore['kind'], { paths, manifest }: SurveyOptions): PageStore[] =>
  Object.entries(kind === 'data' ? manifest.collections : manifest.streams).map(([name, ref]) => ({
    kind,
    name,
    ref,
    folder: join(paths[kind], name),
  }))

/** Checks every line of the tables; undefined where one of them cannot be used. */
const readTables = (options: SurveyOptions, pageStore: PageStore): Tables | undefined => {
  const { visitor, manifest, disk, room } = options
  const { tables: refs } = pageStore.ref
  const path = (no: number): string => join(pageStore.folder, indexName(no))
  const identity = (no: number) => tableIdentity({ of: pageStore.name, root: manifest.root }, no)
  const isSound = refs.map(({ no, length }) =>
    readLines(options, { path: path(no), length, kind: 'index', header: identity(no) }, () => {}),
  )
  const last = refs.at(-1)
  if (last === undefined || isSound.includes(false)) {
    visitor.count?.({ bytes: refs.reduce((sum, { length }) => sum + length, 0) })
    return undefined
  }
  const tables = openTables({ disk, room, path, identity }, refs)
  visitor.count?.({ items: refs.reduce((sum, { rows }) => sum + rows, 0) })
  visitor.tables?.(pageStore, { tables, file: path(last.no) })
  return tables
}

/** Those that can be used, by the names of what they belong to. */
export const readTablesOf = (options: SurveyOptions, kind: PageStore['kind']): ReadonlyMap<string, Tables> =>
  new Map(
    pageStores(kind, options).flatMap((pageStore) => {
      const tables = readTables(options, pageStore)
      return tables === undefined ? [] : [[pageStore.name, tables]]
    }),
  )

/**
 * Reads the pages of a collection or stream, of which tables that are sound say which lines count; `read` returns how
 * many lines call for a row, undefined where some cannot be read.
 */
const readPages = (
  options: SurveyOptions,
  pageStore: PageStore,
  {
    tables,
    read,
  }: { readonly tables: Tables | undefined; readonly read: (rows: PageRows | undefined) => number | undefined },
): void => {
  if (tables === undefined) return void read(undefined)
  const { visitor } = options
  const [scratch, shape] = [createScratch(), pageStore.kind === 'data' ? idSection : extentSection]
  try {
    const rows = createPageRows(scratch, pageStore.ref.pages.length)
    for (const row of tables.all(shape)) {
      if (isRemoval(shape, row)) continue
      const at = pageStore.kind === 'data' ? locationOf(row) : extentOf(row)
      rows.add(at.page, at.offset, digestOf(pageStore.kind === 'data' ? row.slice(0, 4) : row))
      visitor.row?.(pageStore, row)
    }
    const wanted = read(rows)
    if (wanted === undefined) return
    if (wanted === rows.rows && rows.taken === wanted) return visitor.matched?.(pageStore)
    const file = join(pageStore.folder, indexName(pageStore.ref.tables.at(-1)?.no ?? 0))
    const rule = `section ${shape.name} has ${rows.rows} rows; the pages call for ${wanted} or others`
    visitor.fault('index', { file, offset: 0, rule })
  } finally {
    scratch.close()
  }
}

export const readStream = (options: SurveyOptions, pageStore: PageStore, tables: Tables | undefined): void => {
  const { visitor, manifest } = options
  const read = (rows: PageRows | undefined): number | undefined => {
    let [lines, isWhole] = [0, true]
    for (const { no, length } of pageStore.ref.pages) {
      const path = join(pageStore.folder, pageName(no))
      const header = pageIdentity({ of: pageStore.name, root: manifest.root }, no)
      const inPage = rows?.of(no)
      const isSound = readLines(options, { path, length, kind: 'page', header }, (found) => {
        const line = valueOf<EntryLine<Json>>(found)
        visitor.count?.({ items: line.entries.length })
        const place = { file: path, offset: found.offset, page: no, length: found.bytes.length }
        const row = entryRow(line.owner, extentOfLine(line, place))
        inPage?.takes(found.offset, digestOf(row))
        lines += 1
        visitor.entries?.(pageStore.name, line, place)
      })
      isWhole &&= isSound
    }
    return isWhole ? lines : undefined
  }
  readPages(options, pageStore, { tables, read })
}

/** Whether a line counts. Without tables lines must come from the newest back. */
type Counts = (id: string, place: PagePlace) => boolean

const newestOf = (deleted: ReadonlySet<string> | undefined): Counts => {
  const seen = new Set<string>()
  return (id) => deleted?.has(id) !== true && !seen.has(id) && seen.add(id).size > 0
}

export const readCollection = (options: SurveyOptions, pageStore: PageStore, lookup: Lookup): void => {
  const { visitor, manifest } = options
  const { name, ref, folder } = pageStore
  const newer = lookup.written.get(name)
  const readPage = ({ no, length, live }: PageRef, order: ReadOrder, counts: Counts): boolean => {
    const path = join(folder, pageName(no))
    let counted = 0
    const expected = {
      path,
      length,
      kind: 'page',
      header: pageIdentity({ of: pageStore.name, root: manifest.root }, no),
      order,
    } as const
    const isWhole = readLines(options, expected, (found) => {
      visitor.count?.({ items: 1 })
      const line = valueOf<PageLine<JsonObject>>(found)
      const place = { file: path, offset: found.offset, page: no, length: found.bytes.length }
      const isCounted = counts(line.id, place)
      if (isCounted) counted += place.length
      if (isRemovalLine(line)) return isCounted ? visitor.removal?.(name, line.id) : undefined
      if (!isCounted) return order === 'oldest first' ? visitor.dead?.(name, line.id, place) : undefined
      visitor.record?.(name, line, { ...place, counts: newer?.has(line.id) !== true })
    })
    if (order === 'oldest first' && isWhole && counted !== live)
      visitor.fault('index', { file: path, offset: 0, rule: `rows name ${counted} bytes of it, and ${live} count` })
    return isWhole
  }
  const read = (rows: PageRows | undefined): number | undefined => {
    let isWhole = true
    const isNewest = newestOf(lookup.tombstones.get(name))
    if (rows === undefined) for (const page of ref.pages.toReversed()) readPage(page, 'newest first', isNewest)
    else
      for (const page of ref.pages) {
        const inPage = rows.of(page.no)
        const hasRow: Counts = (id, place) =>
          inPage.takes(place.offset, digestOf([id, page.no, place.offset, place.length]))
        const isSound = readPage(page, 'oldest first', hasRow)
        isWhole &&= isSound
      }
    return isWhole ? rows?.taken : undefined
  }
  readPages(options, pageStore, { tables: lookup.tables.get(name), read })
}
