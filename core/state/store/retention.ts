/** What plugins see of partitions: which there are, what would fall, and the fall. */
import { fault } from '../../base/assert.js'
import type { CollectionSpec, DeclaredKind, Fall, FallingLine, Holder, KeptKind, Retention } from '../contract.js'
import { errors } from '../errors.js'
import { earliest, fallOf, freeUpto, holderIn, isWithin } from '../partitions/falls.js'
import { kindIn, kindsIn, type KindFacts } from '../partitions/listing.js'
import { newestOf } from '../partitions/partitions.js'
import { besideOf } from './beside.js'
import type { Wanted } from './checkpoint-pass.js'
import { refuse, runningOf, type Root } from './open-root.js'

export const createRetention = (root: Root): Retention => {
  const listeners: ((kind: string) => void)[] = []
  const fall = async (told: Fall): Promise<Fall> => {
    const { checkpointer } = runningOf(root.access)
    const fallen = await withRoom(root, () => checkpointer.fall(() => wantedOf(root, told)))
    for (const listener of listeners) listener(told.kind)
    return withState(root, fallen)
  }
  return { ...readingOf(root), fall, onFall: (listener) => void listeners.push(listener) }
}

const readingOf = (root: Root): Omit<Retention, 'fall' | 'onFall'> => ({
  declared: () => declaredIn(root),
  bounded: () => new Map(specsIn(root).flatMap(({ bounded = {} }) => Object.entries(bounded))),
  kinds: () => kindsIn(root.manifest.current, factsOf(root)),
  closeAt: (kind, limits) => void root.limits.set(kind, limits),
  checkpoint: (closing) => {
    const run = (): Promise<boolean> => runningOf(root.access).checkpointer.run(closing)
    return closing === undefined ? run() : withRoom(root, run)
  },
  heldBy: (kind) => heldBy(root, kind),
  isLeaving: root.pins.isLeaving,
  beside: (kind) => besideOf(root, kind),
  withRoom: (work) => withRoom(root, work),
  preview: (kind, upto) => previewOf(root, fallible(root, kind, upto), upto),
  freeUpto: (kind, upto) => reachOf(root, kind, upto).free,
  contents: (fall, read) => keepingPages(root, () => read(contentsOf(root, fall))),
})

const specsIn = ({ store }: Root): CollectionSpec<object>[] => [...store.collections.values()].map(({ spec }) => spec)
const declaredIn = (root: Root): DeclaredKind[] =>
  specsIn(root).flatMap(({ kept }) => (kept?.since === undefined ? [] : [kept]))

const factsOf = ({ pageStores }: Root): KindFacts => ({
  leads: pageStores.leads,
  undeclared: (kind) => pageStores.undeclaredOf(kind),
})

/** The kind, if partitions of it up to there may fall. */
const fallible = (root: Root, name: string, upto: number): KeptKind => {
  const known = root.manifest.current.kinds[name]
  const newest = known === undefined ? undefined : newestOf(known)
  if (newest === undefined) throw fault(`nothing is kept as ${name}`)
  if (!Number.isInteger(upto) || upto < 1 || upto > newest.no)
    throw fault(`${name} has no partition ${upto}; the newest is ${newest.no}`)
  const kind = kindIn(root.manifest.current, name, factsOf(root))
  if (kind.undeclared !== undefined) throw fault(`${kind.undeclared} of ${name} is not declared`)
  return kind
}

/** What was told is what falls: a partition that is written to, and one that was meanwhile, is refused. */
const wantedOf = (root: Root, told: Fall): Wanted => {
  const { kind, upto, free } = told
  const kept = fallible(root, kind, upto)
  const isOpen = upto >= (kept.partitions.at(-1)?.no ?? 0)
  const holder = heldBy(root, kind)
  const isHeld = kept.partitions.some(
    ({ no, to }) => no > kept.fell && no <= upto && holder !== undefined && holder.since <= to,
  )
  if (isOpen || isHeld || !isWithin(previewOf(root, kept, upto), told))
    throw errors.fall_outdated({ details: { kind } })
  return { kind, upto, free }
}

/** Records that can still change are in memory: no page is read. */
const heldBy = ({ store, pageStores }: Root, kind: string): Holder | undefined => {
  const holders = function* (): Iterable<Holder> {
    for (const [collection, stored] of store.collections) {
      const { holds } = stored.spec.kept ?? {}
      if (holds?.kind !== kind) continue
      for (const id of pageStores.records(collection).open()) {
        const record = stored.find(id)
        const since = record === undefined ? undefined : holds.since(record)
        if (record === undefined || since === undefined) continue
        const release = holds.release?.(record)
        yield { collection, id, since, ...(release !== undefined && { release }) }
      }
    }
  }
  return earliest(holders())
}

const withRoom = async <R>(root: Root, work: () => Promise<R>): Promise<R> => {
  const { access, ballast, options } = root
  if (access.mode.reason !== 'disk_full') return work()
  const { keeper } = runningOf(access)
  await ballast.release()
  await keeper.recover('at any cost')
  try {
    return await work()
  } finally {
    if (keeper.hasRoom())
      await ballast.place().catch((error: unknown) => options.log.warn('the ballast could not be written', { error }))
    else refuse(access, 'disk_full')
  }
}

/** With whether what holds can still change. */
const withState = ({ pageStores }: Root, fall: Fall): Fall => {
  if (fall.held === undefined) return fall
  const { by } = fall.held
  const isOpen = [...pageStores.records(by.collection).open()].includes(by.id)
  return isOpen ? { ...fall, held: { ...fall.held, by: { ...by, isOpen } } } : fall
}

const previewOf = (root: Root, { kind }: KeptKind, upto: number): Fall => {
  const { leads } = root.pageStores
  const reach = reachOf(root, kind, upto)
  return withState(root, fallOf(root.manifest.current, { kind, upto, ...reach }, leads))
}

/** How far what follows falls too, and the record that holds the rest. */
const reachOf = (
  root: Root,
  kind: string,
  upto: number,
): { readonly free: number; readonly holder: Holder | undefined } => {
  const { manifest, pageStores } = root
  const ref = manifest.current.kinds[kind] ?? { partitions: [], fell: 0 }
  const fall = Math.max(upto, ref.fell)
  const staying = holderIn(manifest.current, { kind, fall, leads: pageStores.leads })
  const holder = earliest([...(staying === undefined ? [] : [staying]), ...carriedOf(root, kind, fall)])
  return { free: freeUpto(ref, { upto, holder }), holder }
}

/** Records that lead the kind, stand in partitions that fall, and can still change. */
function* carriedOf({ manifest, pageStores, store }: Root, kind: string, fall: number): Iterable<Holder> {
  for (const [collection, { kept }] of Object.entries(manifest.current.collections)) {
    const since = store.collections.get(collection)?.spec.kept?.since
    if (kept?.kind !== kind || since === undefined) continue
    for (const [id, record] of pageStores.records(collection).carried(fall))
      yield { collection, id, since: since(record) }
  }
}

/** Removals of pages are put off while somebody reads them. */
const keepingPages = async <R>({ pins, paths, options }: Root, work: () => Promise<R>): Promise<R> => {
  const folders = [paths.data, paths.streams].map((folder) => `${folder}/`)
  const free = pins.pin((path) => folders.some((folder) => path.startsWith(folder)))
  try {
    return await work()
  } finally {
    await free().catch((error: unknown) => options.log.warn('old files could not be removed', { error }))
  }
}

function* contentsOf({ pageStores, store }: Root, { partitions }: Fall): Iterable<FallingLine> {
  for (const { no, shares } of partitions)
    for (const { name } of shares) {
      if (store.collections.has(name))
        for (const { id, r } of pageStores.records(name).settledIn(no)) yield { collection: name, id, record: r }
      else for (const line of pageStores.entries(name).linesIn(no)) yield { stream: name, ...line }
    }
}
