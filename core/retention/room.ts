/** What falls would really take: of what follows a kind only that which no record that stays holds. */
import type { KeptKind, Partition } from '../state/contract.js'

export interface Room {
  /** Bytes of earlier partitions that go without another fall, because what held them is gone. */
  readonly freed: number
  /** Bytes that go with each partition behind those before it, by its number. */
  readonly parts: ReadonlyMap<number, number>
}

const bytesOf = (partitions: readonly Partition[], isLeader: boolean): number =>
  partitions
    .flatMap(({ shares }) => shares)
    .reduce((sum, { leads, bytes }) => (leads === isLeader ? sum + bytes : sum), 0)

/** `freeUpto` says up to which partition what follows falls with those up to one. */
export const roomOf = ({ fell, partitions }: KeptKind, freeUpto: (upto: number) => number): Room => {
  const upTo = (last: number) => partitions.filter(({ no }) => no <= last)
  const taken = (upto: number): number => bytesOf(upTo(upto), true) + bytesOf(upTo(freeUpto(upto)), false)
  const freed = taken(fell)
  let before = freed
  const parts = new Map<number, number>()
  for (const { no } of partitions) {
    if (no <= fell) continue
    const all = taken(no)
    parts.set(no, all - before)
    before = all
  }
  return { freed, parts }
}
