/** The partitions of each kind, as a manifest names them: when one begins, and which are left. */
import type { KindRef, Manifest, PageRef, PagesRef, PartitionRef, TableRef } from '../format/manifest.js'
import type { PartitionLimits } from '../contract.js'

/** Collections or streams with what they are kept as, by name. */
export type Stores = Readonly<Record<string, PagesRef>>
/** The kinds that collections and streams say they are of, by name. */
export interface KindsOf {
  readonly collections: ReadonlyMap<string, string>
  readonly streams: ReadonlyMap<string, string>
}

const day = 24 * 60 * 60 * 1000
/** So that a root of which nothing was to fall so far can let its oldest parts fall one day. */
export const usualLimits: PartitionLimits = { age: 30 * day, records: Infinity, bytes: 1024 ** 3 }

export const newestOf = ({ partitions }: KindRef): PartitionRef | undefined => partitions.at(-1)

const partsIn = (stores: Stores, kind: string): number[] =>
  Object.values(stores).flatMap(({ pages, tables, kept }) =>
    kept?.kind === kind ? [...pages, ...tables].flatMap(({ part }) => part ?? []) : [],
  )

/** The partitions of a kind of which something is there. */
const filledIn = ({ collections, streams }: Pick<Manifest, 'collections' | 'streams'>, kind: string): Set<number> =>
  new Set([...partsIn(collections, kind), ...partsIn(streams, kind)])

/** What a checkpoint does to the partitions of a kind. */
export interface Turn {
  /** The latest stamp of the commits that it writes: before the end of the newest one where a clock was set back. */
  readonly t: number
  readonly isDue: boolean
  /** What falls with it, up to this one; 0: nothing. */
  readonly fall: number
  /** Something is in the newest one. */
  readonly isFilled: boolean
}

/** The kind with the partition that a checkpoint writes to as its newest. */
export const turned = (kind: KindRef | undefined, { t, isDue, fall, isFilled }: Turn): KindRef => {
  const { partitions, fell } = kind ?? { partitions: [], fell: 0 }
  const last = partitions.at(-1)
  const earlier = partitions.slice(0, -1)
  const leaders = Math.max(fell, fall)
  if (last === undefined) return { partitions: [{ no: leaders + 1, from: t, to: t }], fell: leaders }
  const to = Math.max(last.to, t)
  if (last.no <= fall || (isDue && isFilled))
    return { partitions: [...partitions, { no: last.no + 1, from: t, to: t }], fell: leaders }
  const grown = isFilled ? { ...last, to } : { no: last.no, from: t, to: t }
  return { partitions: [...earlier, grown], fell: leaders }
}

/** Without partitions of which nothing is left, and without kinds that nothing is kept as. */
export const pruned = (manifest: Manifest): Manifest['kinds'] =>
  Object.fromEntries(
    Object.entries(manifest.kinds).map(([name, kind]) => {
      const filled = filledIn(manifest, name)
      const newest = newestOf(kind)?.no
      return [name, { ...kind, partitions: kind.partitions.filter(({ no }) => no === newest || filled.has(no)) }]
    }),
  )

/** Everything of a store in one partition, of which nobody knows more. */
const inOne = ({ pages, tables, index, kept }: PagesRef, kind: string, part: number): PagesRef => ({
  pages: pages.map(({ no, length, live }): PageRef => ({ no, length, live, part })),
  tables: tables.map(({ no, length, footer, rows }): TableRef => ({ no, length, footer, rows, part })),
  index,
  kept: { ...kept, kind },
})

const kindIn = (stores: Stores, wanted: ReadonlyMap<string, string>, kind: string): string[] =>
  Object.entries(stores).flatMap(([name, { kept }]) => ((wanted.get(name) ?? kept?.kind) === kind ? [name] : []))

const together = (stores: Stores, names: readonly string[], [kind, part]: readonly [string, number]): Stores =>
  Object.fromEntries(
    Object.entries(stores).map(([name, ref]) => [name, names.includes(name) ? inOne(ref, kind, part) : ref]),
  )

const carryKind = (manifest: Manifest, kinds: KindsOf, kind: string): Manifest => {
  const names = {
    collections: kindIn(manifest.collections, kinds.collections, kind),
    streams: kindIn(manifest.streams, kinds.streams, kind),
  }
  const refs = [
    ...names.collections.map((name) => manifest.collections[name]),
    ...names.streams.map((name) => manifest.streams[name]),
  ]
  if (refs.every((ref) => ref?.kept?.kind === kind)) return manifest
  const known = manifest.kinds[kind] ?? { partitions: [], fell: 0 }
  const no = newestOf(known)?.no ?? known.fell + 1
  const to = Math.max(manifest.t, newestOf(known)?.to ?? 0)
  return {
    ...manifest,
    collections: together(manifest.collections, names.collections, [kind, no]),
    streams: together(manifest.streams, names.streams, [kind, no]),
    kinds: { ...manifest.kinds, [kind]: { ...known, partitions: [{ no, from: 0, to }] } },
  }
}

/**
 * Where a collection or stream does not stand in the partitions of its kind, everything of the kind becomes one: an
 * earlier version wrote the manifest, or it is kept since this version.
 */
export const carriedOver = (manifest: Manifest, kinds: KindsOf): Manifest =>
  [...new Set([...kinds.collections.values(), ...kinds.streams.values()])].reduce(
    (carried, kind) => carryKind(carried, kinds, kind),
    manifest,
  )
