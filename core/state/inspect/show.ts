/** Records and entries as they stand on disk, for an operator's eyes; read-only, from a stopped or a live root. */
import type { Json, JsonObject } from '../../base/schema.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { readManifest, type Manifest } from '../format/manifest.js'
import { survey } from './survey/survey.js'
import type { SurveyVisitor } from './survey/visitor.js'
import { readWatermark } from '../format/watermark.js'

export interface RootPlace {
  readonly root: string
  readonly disk: Disk
}

/** What was read, and the first faults that were met on the way. */
export interface Shown<T> {
  readonly value: T
  readonly faults: readonly Fault[]
}

const manifestOf = ({ root, disk }: RootPlace): Manifest => {
  const { manifest: path } = layout(root)
  const read = readManifest(disk, path)
  if (!read.ok) throw errors.state_root_damaged({ details: { path, root } })
  if (read.manifest === undefined) throw errors.state_root_absent({ details: { path: root } })
  return read.manifest
}

const mostTries = 8

/** Walks the root; again from the start if a checkpoint moved files meanwhile. */
const walk = <T>(
  place: RootPlace,
  begin: () => { visitor: Omit<SurveyVisitor, 'fault'>; result: () => T },
): Shown<T> => {
  for (let tries = 1; ; tries += 1) {
    const manifest = manifestOf(place)
    const paths = layout(place.root)
    const faults: Fault[] = []
    const { visitor, result } = begin()
    const fault: SurveyVisitor['fault'] = (kind, found) => {
      if (kind !== 'torn' && kind !== 'behind') faults.push(found)
    }
    survey({
      disk: place.disk,
      paths,
      manifest,
      watermark: readWatermark(place.disk, paths.watermark).watermark,
      visitor: { ...visitor, fault },
    })
    if (faults.length === 0 || tries === mostTries || JSON.stringify(manifestOf(place)) === JSON.stringify(manifest))
      return { value: result(), faults }
  }
}

export interface Inventory {
  readonly collections: Readonly<Record<string, { readonly records: number; readonly buried: number }>>
  readonly streams: Readonly<Record<string, { readonly owners: number; readonly entries: number }>>
}

interface Counts {
  readonly records: Map<string, Set<string>>
  readonly tombstones: Map<string, Set<string>>
  readonly lengths: Map<string, Map<string, number>>
}

const at = <V>(map: Map<string, V>, key: string, make: () => V): V => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}

const idsOf = (map: Map<string, Set<string>>, name: string): Set<string> => at(map, name, () => new Set())

const counting = ({ records, tombstones, lengths }: Counts): Omit<SurveyVisitor, 'fault'> => {
  const grow = (stream: string, owner: string, count: number): void => {
    const owners = at(lengths, stream, () => new Map<string, number>())
    owners.set(owner, (owners.get(owner) ?? 0) + count)
  }
  return {
    tombstone: (collection, id) => void idsOf(tombstones, collection).add(id),
    record: (collection, { id }, { counts }) => {
      if (counts) idsOf(records, collection).add(id)
    },
    entries: (stream, { owner, entries }) => grow(stream, owner, entries.length),
    op: (op) => {
      if (op[0] === 'put') idsOf(records, op[1]).add(op[2])
      else if (op[0] === 'app') grow(op[1], op[2], 1)
      else {
        if (op[0] === 'del') idsOf(tombstones, op[1]).add(op[2])
        idsOf(records, op[1]).delete(op[2])
      }
    },
  }
}

const countAll = (place: RootPlace): Shown<Counts> =>
  walk(place, () => {
    const counts: Counts = { records: new Map(), tombstones: new Map(), lengths: new Map() }
    return { visitor: counting(counts), result: () => counts }
  })

export const listState = (place: RootPlace): Shown<Inventory> => {
  const {
    value: { records, tombstones, lengths },
    faults,
  } = countAll(place)
  const names = [...new Set([...records.keys(), ...tombstones.keys()])].toSorted()
  const collections = Object.fromEntries(
    names.map((name) => [name, { records: records.get(name)?.size ?? 0, buried: tombstones.get(name)?.size ?? 0 }]),
  )
  const streams = Object.fromEntries(
    [...lengths]
      .toSorted()
      .map(([name, owners]) => [
        name,
        { owners: owners.size, entries: [...owners.values()].reduce((sum, length) => sum + length, 0) },
      ]),
  )
  return { value: { collections, streams }, faults }
}

/** Records of a collection by id; undefined if the root has no such collection. */
export const showRecords = (
  place: RootPlace,
  collection: string,
  id?: string,
): Shown<ReadonlyMap<string, JsonObject> | undefined> =>
  walk(place, () => {
    const found = new Map<string, JsonObject>()
    let known = false
    const wanted = (name: string, one: string): boolean => {
      known ||= name === collection
      return name === collection && (id === undefined || id === one)
    }
    const visitor: Omit<SurveyVisitor, 'fault'> = {
      tombstone: (name) => {
        known ||= name === collection
      },
      record: (name, line, { counts }) => {
        if (wanted(name, line.id) && counts) found.set(line.id, line.r)
      },
      removal: (name) => {
        known ||= name === collection
      },
      op: (op) => {
        if (op[0] === 'app' || !wanted(op[1], op[2])) return
        if (op[0] === 'put') found.set(op[2], op[3])
        else found.delete(op[2])
      },
    }
    return { visitor, result: () => (known ? found : undefined) }
  })

/** Entries of one owner that are there, in order; undefined if the root has no such stream. */
export const showEntries = (place: RootPlace, stream: string, owner: string): Shown<readonly Json[] | undefined> =>
  walk(place, () => {
    const found: Json[] = []
    let known = false
    const wanted = (name: string, one: string): boolean => {
      known ||= name === stream
      return name === stream && owner === one
    }
    const visitor: Omit<SurveyVisitor, 'fault'> = {
      entries: (name, line) => {
        if (wanted(name, line.owner)) for (const entry of line.entries) found.push(entry)
      },
      op: (op) => {
        if (op[0] === 'app' && wanted(op[1], op[2])) found.push(op[4])
      },
    }
    return { visitor, result: () => (known ? found : undefined) }
  })

/** Owners of a stream with the number of their entries that are there. */
export const showOwners = (place: RootPlace, stream: string): Shown<Readonly<Record<string, number>> | undefined> => {
  const {
    value: { lengths },
    faults,
  } = countAll(place)
  const owners = lengths.get(stream)
  return { value: owners === undefined ? undefined : Object.fromEntries(owners), faults }
}
