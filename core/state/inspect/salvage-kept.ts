/** What a salvage keeps of partitions: which kinds there are, what fell, and how many entries of an owner did. */
import { join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import type { Disk } from '../disk/disk.js'
import { numberOf, pageName, type Layout } from '../format/layout.js'
import { createLineFile } from '../format/line-file.js'
import type { Manifest, PageRef, PagesRef } from '../format/manifest.js'
import { entryText } from '../pages/entry-codec.js'
import { newestOf } from '../partitions/partitions.js'
import { isMarkedFallen } from '../root/root-document.js'

/** Entries of an owner up to this one fell. */
export interface FallenEntries {
  readonly stream: string
  readonly owner: string
  readonly last: number
}

/** Numbers entries without gaps behind those that fell. */
export const createNumbers = ({ streams }: Pick<Manifest, 'streams'>) => {
  const lengths = new Map<string, { readonly seen: number; readonly kept: number }>()
  const fallen: FallenEntries[] = []
  const lengthOf = (stream: string, owner: string, seq: number): { readonly seen: number; readonly kept: number } => {
    const key = JSON.stringify([stream, owner])
    const known = lengths.get(key)
    if (known !== undefined) return known
    const last = streams[stream]?.kept?.fell === undefined ? 0 : seq - 1
    if (last > 0) fallen.push({ stream, owner, last })
    lengths.set(key, { seen: last, kept: last })
    return { seen: last, kept: last }
  }
  return {
    fallen,
    /** The first of an owner that is there, or where the next one belongs. */
    begin: (stream: string, owner: string, seq: number): void => void lengthOf(stream, owner, seq),
    /** The number that an entry gets; undefined: it was numbered before. */
    next(stream: string, owner: string, seq: number): number | undefined {
      const { seen, kept } = lengthOf(stream, owner, seq)
      if (seq <= seen) return undefined
      lengths.set(JSON.stringify([stream, owner]), { seen: seq, kept: kept + 1 })
      return kept + 1
    },
  }
}

/** Kept as nobody knows what: the declarations tell at the next start. */
const lost = 'lost'

/** Where the manifest is lost: streams of a root of which partitions fell may begin anywhere. */
export const guessKept = (
  { disk, paths }: { readonly disk: Disk; readonly paths: Layout },
  manifest: Manifest,
): Manifest => {
  if (!isMarkedFallen({ root: paths.root, disk })) return manifest
  const streams = Object.fromEntries(
    Object.entries(manifest.streams).map(([name, ref]) => [name, { ...ref, kept: { kind: lost, fell: '' } }]),
  )
  return { ...manifest, streams, kinds: { [lost]: { partitions: [], fell: 0 } } }
}

export interface KeptOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly ids: Ids
  readonly rootId: string
}

type Left = Pick<Manifest, 'collections' | 'streams' | 'kinds'>

/** What the manifest of an empty root says of kinds, with a page for each stream of which entries fell. */
export const keepKinds = async (
  options: KeptOptions,
  known: Manifest,
  fallen: readonly FallenEntries[],
): Promise<Left> => {
  const kinds = Object.fromEntries(
    Object.entries(known.kinds).map(([name, kind]) => {
      const no = newestOf(kind)?.no ?? kind.fell + 1
      return [name, { ...kind, partitions: [{ no, from: 0, to: Math.max(known.t, newestOf(kind)?.to ?? 0) }] }]
    }),
  )
  const streams: Record<string, PagesRef> = withoutFiles(known.streams)
  for (const [name, ref] of Object.entries(streams)) {
    const own = fallen.filter(({ stream }) => stream === name)
    const part = kinds[ref.kept?.kind ?? '']?.partitions[0]?.no
    if (own.length > 0) streams[name] = { ...ref, pages: [await writePage(options, { name, part }, own)] }
  }
  return { kinds, streams, collections: withoutFiles(known.collections) }
}

const withoutFiles = (stores: Readonly<Record<string, PagesRef>>): Record<string, PagesRef> =>
  Object.fromEntries(
    Object.entries(stores).flatMap(([name, { kept }]) =>
      kept === undefined ? [] : [[name, { pages: [], tables: [], index: null, kept }]],
    ),
  )

const writePage = async (
  { disk, paths, ids, rootId }: KeptOptions,
  { name, part }: { readonly name: string; readonly part: number | undefined },
  fallen: readonly FallenEntries[],
): Promise<PageRef> => {
  const folder = join(paths.streams, name)
  const no = 1 + Math.max(0, ...disk.list(folder).map((file) => numberOf(file) ?? 0))
  const header = { v: 1, k: 'page', of: name, salt: ids.random(4), no, root: rootId, version: 0 } as const
  const file = await createLineFile(disk, join(folder, pageName(no)), header)
  let live = 0
  for (const { owner, last } of fallen) live += file.add(entryText(owner, last + 1, [])).length
  await file.sync()
  await file.close()
  await disk.syncFolder(folder)
  return { no, length: file.length, live, ...(part !== undefined && { part, records: 0, open: 0 }) }
}
