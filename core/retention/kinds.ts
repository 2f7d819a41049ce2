/** What the state knows of kinds, as facts that a plan is made of, and what it is asked to divide them into. */
import type { Holder, KeptKind, Partition, PartitionLimits } from '../state/contract.js'
import { usualLimits } from '../state/partitions/partitions.js'
import { showDay } from './amounts.js'
import type { KindPolicy, Policy } from './policy.js'
import type { PartitionFacts } from './queue.js'

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** On disk, with everything that follows what leads. */
export const bytesIn = ({ shares }: Partition): number => sum(shares.map(({ bytes }) => bytes))
/** Of what leads and no longer changes: the rest is carried along and never falls. */
export const recordsIn = ({ shares }: Partition): number =>
  sum(shares.map(({ leads, records, open }) => (leads ? Math.max(0, records - open) : 0)))

const hasOpen = ({ shares }: Partition): boolean => shares.some(({ leads, open }) => leads && open > 0)

export const kindBytes = (kinds: readonly KeptKind[]): Readonly<Record<string, number>> =>
  Object.fromEntries(kinds.map(({ kind, partitions }) => [kind, sum(partitions.map(bytesIn))]))

interface BesideKind {
  readonly holder: Holder | undefined
  /** Bytes that go behind each partition, by its number. */
  readonly parts: ReadonlyMap<number, number>
  /** Bytes in partitions that go with each; absent: all that it holds. */
  readonly room?: ReadonlyMap<number, number> | undefined
}

/** Partitions that can fall. */
export const factsOf = (
  { kind, fell, partitions, undeclared }: KeptKind,
  { holder, parts: beside, room }: BesideKind,
): PartitionFacts[] =>
  partitions
    // Of earlier ones something stays because of a record that is kept; it goes with the next that fall.
    .filter(({ no }) => no > fell)
    // Behind a fall the newest one holds what is carried on, and would be carried on again.
    .filter((partition, at, { length }) => at < length - 1 || recordsIn(partition) > 0)
    .map((partition) => ({
      kind,
      no: partition.no,
      from: partition.from,
      since: Math.min(partition.from, partition.since ?? partition.from),
      settledSince: hasOpen(partition) ? undefined : partition.since,
      to: partition.to,
      records: recordsIn(partition),
      bytes: bytesIn(partition) + (beside.get(partition.no) ?? 0),
      beside: beside.get(partition.no) ?? 0,
      room: (room?.get(partition.no) ?? bytesIn(partition)) + (beside.get(partition.no) ?? 0),
      ...heldWith(partition, { undeclared, holder }),
    }))

const heldWith = (
  { to }: Partition,
  { undeclared, holder }: { readonly undeclared: string | undefined; readonly holder: Holder | undefined },
): Pick<PartitionFacts, 'held' | 'release'> => {
  if (undeclared !== undefined)
    return {
      held: `Nobody declares ${undeclared} now: a plugin is missing.`,
      release: 'Start with the plugin that it belongs to.',
    }
  if (holder === undefined || holder.since > to) return {}
  const { collection, id, since, release } = holder
  const held = `In ${collection}, ${id} is not over, and belongs to what was written since ${showDay(since)}.`
  return { held, ...(release !== undefined && { release }) }
}

/** Parts of what is kept that fall one after the other: enough that little more is kept than was asked for. */
const parts = 8

/** Partitions end so early that what falls is never more than about an eighth of what is kept. */
export const limitsFor = ({ maxAge, maxCount }: KindPolicy, { maxBytes }: Policy): PartitionLimits => ({
  age: Math.min(usualLimits.age, (maxAge ?? Infinity) / parts),
  records: Math.max(1, Math.floor((maxCount ?? Infinity) / parts)),
  bytes: Math.min(usualLimits.bytes, (maxBytes ?? Infinity) / (2 * parts)),
})
