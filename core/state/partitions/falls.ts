/** What of a kind may fall: what leads it up to a partition, and what follows as far as nothing that stays holds it. */
import type { Fall, Holder, Partition } from '../contract.js'
import type { KindRef, Manifest, Oldest, PartitionRef } from '../format/manifest.js'
import { partitionIn, type KindFacts } from './listing.js'

/** The record with the earliest `since` of those that lead a kind and stay, as far as tables tell. */
export const holderIn = (
  { collections }: Pick<Manifest, 'collections'>,
  { kind, fall, leads }: { readonly kind: string; readonly fall: number; readonly leads: KindFacts['leads'] },
): Holder | undefined => {
  const oldest = Object.entries(collections).flatMap(([collection, { kept, tables }]): Holder[] =>
    kept?.kind === kind && leads(collection)
      ? tables.flatMap(({ part = 0, oldest: one = unknown }) => (part > fall ? [{ collection, ...one }] : []))
      : [],
  )
  return earliest(oldest)
}

/** Tables of earlier versions do not tell. */
const unknown: Oldest = { id: '', since: 0 }

export const earliest = (holders: Iterable<Holder>): Holder | undefined => {
  let first: Holder | undefined
  for (const holder of holders) if (first === undefined || holder.since < first.since) first = holder
  return first
}

/** The last partition up to `upto` in which nothing can be of a record that stays. */
export const freeUpto = (
  { partitions, fell }: KindRef,
  { upto, holder }: { readonly upto: number; readonly holder: Holder | undefined },
): number => {
  const asked = partitions.filter(({ no }) => no <= Math.max(upto, fell))
  const held = asked.find(({ to }) => holder !== undefined && holder.since <= to)
  return held === undefined ? Math.max(upto, fell) : held.no - 1
}

const bytesOf = (partitions: readonly Partition[]): number =>
  partitions.reduce((sum, { shares }) => sum + shares.reduce((bytes, share) => bytes + share.bytes, 0), 0)

const withShares = (partition: Partition, isWanted: (leads: boolean, no: number) => boolean): Partition => ({
  ...partition,
  shares: partition.shares.filter(({ leads }) => isWanted(leads, partition.no)),
})

const withoutOpen = (partition: Partition): Partition => ({
  ...partition,
  shares: partition.shares.map((share) => ({ ...share, records: share.records - share.open, open: 0 })),
})

/** A fall in words: `before` is the manifest before it. */
export const fallOf = (
  before: Manifest,
  { kind, upto, free, holder }: { kind: string; upto: number; free: number; holder: Holder | undefined },
  leads: KindFacts['leads'],
): Fall => {
  const refs: readonly PartitionRef[] = before.kinds[kind]?.partitions.filter(({ no }) => no <= upto) ?? []
  const all = refs.map((ref) => partitionIn(before, { kind, ref }, leads))
  const falling = all.map((partition) => withoutOpen(withShares(partition, (isLeader, no) => isLeader || no <= free)))
  const held = bytesOf(all.map((partition) => withShares(partition, (isLeader, no) => !isLeader && no > free)))
  return {
    kind,
    upto,
    free,
    partitions: falling.filter(({ shares }) => shares.length > 0),
    held: holder === undefined || held === 0 ? undefined : { by: holder, bytes: held },
  }
}

/** Whether a fall takes nothing but what another one tells, each partition as it ended then. */
export const isWithin = (fall: Fall, told: Fall): boolean =>
  fall.partitions.every(({ no, to, shares }) => {
    const known = told.partitions.find((one) => one.no === no)
    return shares.every(({ name, leads, records }) => {
      if (!leads && no > told.free) return true
      const share = known?.to === to ? known.shares.find((one) => one.name === name) : undefined
      return share !== undefined && records <= share.records
    })
  })
