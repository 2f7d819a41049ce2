/** What tells which records are there, without a list of them: tables that were found sound, and what the log says. */
import { createCacheRoom, type CacheRoom } from '../../../base/memory/sized-cache.js'
import type { Disk } from '../../disk/disk.js'
import type { FileIdentity } from '../../format/line-file.js'
import type { TableRef } from '../../format/manifest.js'
import { OpenPages } from '../../pages/open-pages.js'
import { PageReader } from '../../pages/page-reader.js'
import { idSection, isRemovedRow } from '../../pages/record-codec.js'
import type { Bloom } from '../../tables/bloom.js'
import { compareKeys, isRemoval, type Row } from '../../tables/rows.js'
import { rowIn, TableFile } from '../../tables/table-file.js'
import { Tables } from '../../tables/tables.js'

/** What tells which records are there. */
export interface Known {
  /** Whether a record is there; undefined: nobody can tell before all was read. Looks into tables. */
  has(collection: string, id: string): boolean | undefined
  /** Whether it can be told of every id of a collection. A look at each would cost ids in no order a block each. */
  tells(collection: string): boolean
}

export interface Lookup {
  /** Deleted ids of collections without sound tables. */
  readonly tombstones: ReadonlyMap<string, ReadonlySet<string>>
  /** What the log says of ids: whether they are there now. */
  readonly written: ReadonlyMap<string, ReadonlyMap<string, boolean>>
  /** Sound tables of collections. */
  readonly tables: ReadonlyMap<string, Tables>
  /** Collections that have pages. */
  readonly paged: ReadonlySet<string>
}

/** What a walk holds of all tables of a root at a time, however many there are. */
export interface TableRoom {
  /** Tables that are open. */
  readonly files: OpenPages
  readonly blocks: CacheRoom
  readonly filters: CacheRoom
}

const openAtOnce = 64
/** Bytes on disk of what is kept; rows take several times as much in memory. */
const [blockBytes, filterBytes] = [2 * 2 ** 20, 16 * 2 ** 20]

export const createTableRoom = (): TableRoom => ({
  files: new OpenPages(openAtOnce),
  blocks: createCacheRoom(blockBytes),
  filters: createCacheRoom(filterBytes),
})

interface TablePlace {
  readonly disk: Disk
  readonly room: TableRoom
  readonly path: (no: number) => string
  readonly identity: (no: number) => FileIdentity
}

/** Opens tables whose lines were all found sound. */
export const openTables = (place: TablePlace, refs: readonly TableRef[]): Tables => {
  const { room, ...rest } = place
  const reader = new PageReader({ ...rest, files: room.files, onDamage: () => {} })
  const [blocks, filters] = [room.blocks.cache<readonly Row[]>(), room.filters.cache<Bloom>()]
  const tables = new Tables((ref) => {
    const readLine = (offset: number, length: number): unknown => reader.read({ page: ref.no, offset, length })
    return new TableFile({ ref, readLine, blocks, filters, key: String(ref.no) })
  })
  tables.use(refs)
  return tables
}

/**
 * Looks ids up in tables. Those that are asked for one after the other mostly stand in one leaf, which is kept: one of
 * all tables, because a root has the more of them the longer it runs.
 */
export const createFinder = ({ files }: Tables): ((id: string) => Row | undefined) => {
  const newestFirst = files.toReversed()
  let kept: { readonly file: TableFile; readonly rows: readonly Row[] } | undefined
  const leafOf = (file: TableFile, key: Row): readonly Row[] | undefined => {
    if (file === kept?.file && isBetween(kept.rows, key)) return kept.rows
    const rows = file.leafOf(idSection, key)
    if (rows !== undefined) kept = { file, rows }
    return rows
  }
  return (id) => {
    const key = [id]
    for (const file of newestFirst) {
      const rows = leafOf(file, key)
      const row = rows === undefined ? undefined : rowIn(rows, idSection, key)
      if (row !== undefined) return isRemoval(idSection, row) ? undefined : row
    }
    return undefined
  }
}

const isBetween = (rows: readonly Row[], key: Row): boolean => {
  const [first, last] = [rows[0], rows.at(-1)]
  return first !== undefined && last !== undefined && compareKeys(first, key, 1) <= 0 && compareKeys(key, last, 1) <= 0
}

export const createKnown = ({ tombstones, written, tables, paged }: Lookup): Known => {
  const finders = new Map(Array.from(tables, ([name, found]) => [name, createFinder(found)]))
  const has: Known['has'] = (collection, id) => {
    const known = written.get(collection)?.get(id)
    if (known !== undefined) return known
    const find = finders.get(collection)
    if (find !== undefined) {
      const row = find(id)
      return row !== undefined && !isRemovedRow(row)
    }
    if (tombstones.get(collection)?.has(id) === true) return false
    return paged.has(collection) ? undefined : false
  }
  return { has, tells: (collection) => finders.has(collection) || !paged.has(collection) }
}
