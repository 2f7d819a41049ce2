/** What goes by itself behind a fall of a kind, such as blobs of records that stand in no partition. */
import { createPause } from '../../base/turns.js'
import type { Beside, CollectionSpec } from '../contract.js'
import { faultIn } from '../format/line-file.js'
import type { StoredCollection } from '../memory/stored-collection.js'
import type { Root } from './open-root.js'

/** Records that are read before others are served. */
const atOnce = 64

export const besideOf = async (root: Root, kind: string): Promise<Beside> => {
  const partitions = root.manifest.current.kinds[kind]?.partitions ?? []
  const parts = new Map<number, number>()
  let gone = 0
  const open = openLeaders(root, kind)
  const pause = createPause(atOnce)
  for (const { record, spec, at } of following(root, kind)) {
    const bytes = (spec.blobs?.(record) ?? []).reduce((sum, blob) => sum + blob.bytes, 0)
    const part = partitions.find(({ to }) => to >= at) ?? partitions.at(-1)
    const leaders = leadersOf(root, spec, record)
    const isLed = leaders.every(({ collection, id }) => root.store.collections.get(collection)?.has(id) === true)
    if (part === undefined || !isLed) gone += bytes
    else if (!leaders.some(({ collection, id }) => open.get(collection)?.has(id)))
      parts.set(part.no, (parts.get(part.no) ?? 0) + bytes)
    await pause()
  }
  return { gone, parts }
}

interface Following {
  readonly spec: CollectionSpec<object>
  readonly record: object
  readonly at: number
}

function* following({ store }: Root, kind: string): Iterable<Following> {
  for (const stored of store.collections.values()) {
    const { spec } = stored
    const { follows } = spec
    if (follows?.kind !== kind) continue
    for (const record of recordsOf(stored, follows.index)) yield { spec, record, at: follows.at(record) }
  }
}

function* recordsOf(stored: StoredCollection<object>, index: string): Iterable<object> {
  const { indexes, id } = stored.spec
  for (const group of stored.groups(index))
    for (let beyond: string | undefined; ;) {
      const ids = stored.page({ index, group, limit: atOnce, ...(beyond !== undefined && { beyond }) })
      const records = ids.map((one) => soundIn(stored, one)).filter((record) => record !== undefined)
      yield* records
      const last = records.at(-1)
      if (ids.length < atOnce || last === undefined) break
      beyond = indexes[index]?.sort?.(last) ?? id(last)
    }
}

/** One that is damaged counts as nothing: it must not keep history from falling. */
const soundIn = (stored: StoredCollection<object>, id: string): object | undefined => {
  try {
    return stored.find(id)
  } catch (error) {
    if (faultIn(error) === undefined) throw error
    return undefined
  }
}

/** Ids by collection of records that can still change: they are carried on, and so is what they lead. */
const openLeaders = ({ store, pageStores }: Root, kind: string): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    [...store.collections.values()]
      .filter(({ spec: { name, kept } }) => kept?.kind === kind && pageStores.leads(name))
      .map(({ spec: { name } }) => [name, new Set(pageStores.records(name).open())]),
  )

/** The records of the kind that it names. */
const leadersOf = ({ pageStores }: Root, spec: CollectionSpec<object>, record: object) =>
  (spec.references?.(record) ?? []).filter(({ collection }) => pageStores.leads(collection))
