/** What an archive holds, as `state show` shows a root. */
import type { Json } from '../../base/schema.js'
import type { Disk } from '../../state/disk/disk.js'
import { errors } from './errors.js'
import type { Inventory } from '../../state/inspect/show.js'
import { openArchive } from './read.js'

export interface ArchivePlace {
  readonly disk: Disk
  readonly path: string
}

interface Read {
  readonly records: Map<string, Map<string, Json>>
  readonly entries: Map<string, Map<string, Json[]>>
}

const at = <V>(map: Map<string, V>, key: string, make: () => V): V => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}

/** The whole archive, of which only what is wanted stays in memory. */
const readAll = async (
  { disk, path }: ArchivePlace,
  isWanted: (name: string, id: string) => boolean,
): Promise<Read> => {
  const read: Read = { records: new Map(), entries: new Map() }
  const { lines } = await openArchive(disk, path)
  for await (const line of lines) {
    if ('collection' in line) {
      const found = at(read.records, line.collection, () => new Map<string, Json>())
      found.set(line.id, isWanted(line.collection, line.id) ? line.r : null)
    } else {
      const found = at(
        at(read.entries, line.stream, () => new Map<string, Json[]>()),
        line.owner,
        (): Json[] => [],
      )
      for (const entry of line.entries) found.push(isWanted(line.stream, line.owner) ? entry : null)
    }
  }
  return read
}

export const listArchive = async (place: ArchivePlace): Promise<Inventory> => {
  const { records, entries } = await readAll(place, () => false)
  const sizes = (owners: Map<string, Json[]>) => ({
    owners: owners.size,
    entries: [...owners.values()].reduce((sum, found) => sum + found.length, 0),
  })
  return {
    collections: Object.fromEntries(Array.from(records, ([name, ids]) => [name, { records: ids.size, buried: 0 }])),
    streams: Object.fromEntries(Array.from(entries, ([name, owners]) => [name, sizes(owners)])),
  }
}

/** Everything of a collection, or the numbers of entries of a stream by their owners. Throws `archive_shape_absent`. */
export const showArchived = async (place: ArchivePlace, name: string): Promise<Json> => {
  const { records, entries } = await readAll(place, (one) => one === name)
  const [found, owners] = [records.get(name), entries.get(name)]
  if (found !== undefined) return [...found.values()]
  if (owners === undefined) throw errors.archive_shape_absent({ details: { path: place.path, name } })
  return Object.fromEntries(Array.from(owners, ([owner, own]) => [owner, own.length]))
}

/** A record, or the entries of an owner. Throws `archive_shape_absent` or `archive_record_absent`. */
export const showArchivedOne = async (place: ArchivePlace, name: string, id: string): Promise<Json> => {
  const { records, entries } = await readAll(place, (one, own) => one === name && own === id)
  const [found, owners] = [records.get(name), entries.get(name)]
  if (found === undefined && owners === undefined)
    throw errors.archive_shape_absent({ details: { path: place.path, name } })
  const one = found?.get(id) ?? owners?.get(id)
  if (one === undefined) throw errors.archive_record_absent({ details: { path: place.path, name, id } })
  return one
}
