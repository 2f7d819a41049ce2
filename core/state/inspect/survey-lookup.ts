/** What tells which records are there, without a list of them: tables that were found sound, and what the log says. */
import type { Disk } from '../disk/disk.js'
import type { TableRef } from '../format/manifest.js'
import type { Location } from '../pages/page-file.js'
import type { OpenPages } from '../pages/open-pages.js'
import { PageReader } from '../pages/page-reader.js'
import { idSection } from '../pages/record-codec.js'
import { createBlockCache } from '../tables/block-cache.js'
import { TableFile } from '../tables/table-file.js'
import { Tables } from '../tables/tables.js'

/** Whether a record is there; undefined: nobody can tell before all was read. */
export type Has = (collection: string, id: string) => boolean | undefined

export interface Lookup {
  readonly tombstones: ReadonlyMap<string, ReadonlySet<string>>
  /** What the log says of ids: whether they are there now. */
  readonly written: ReadonlyMap<string, ReadonlyMap<string, boolean>>
  /** Sound tables of collections. */
  readonly tables: ReadonlyMap<string, Tables>
  /** Collections that have pages. */
  readonly paged: ReadonlySet<string>
}

/** Bytes of blocks that are kept for each collection or stream. */
const blockBytes = 512 * 1024

interface TablePlace {
  readonly disk: Disk
  /** Tables that are open. */
  readonly files: OpenPages
  readonly path: (no: number) => string
}

/** Opens tables whose lines were all found sound. */
export const openTables = (place: TablePlace, refs: readonly TableRef[]): Tables => {
  const reader = new PageReader({ ...place, onDamage: () => {} })
  const blocks = createBlockCache(blockBytes)
  const tables = new Tables((ref) => {
    const readLine = (offset: number, length: number): unknown => reader.read({ page: ref.no, offset, length })
    return new TableFile({ ref, readLine, blocks, key: String(ref.no) })
  })
  tables.use(refs)
  return tables
}

/** Whether a line is the one that counts of its id. Without tables lines must come from the newest back. */
export const createNewest = (tables: Tables | undefined): ((id: string, location: Location) => boolean) => {
  if (tables === undefined) {
    const seen = new Set<string>()
    return (id) => !seen.has(id) && seen.add(id).size > 0
  }
  return (id, { page, offset }) => {
    const row = tables.find(idSection, [id])
    return row?.[1] === page && row[2] === offset
  }
}

export const createHas =
  ({ tombstones, written, tables, paged }: Lookup): Has =>
  (collection, id) => {
    const known = written.get(collection)?.get(id)
    if (known !== undefined) return known
    if (tombstones.get(collection)?.has(id) === true) return false
    const found = tables.get(collection)
    if (found !== undefined) return found.find(idSection, [id]) !== undefined
    return paged.has(collection) ? undefined : false
  }
