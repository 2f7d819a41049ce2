/**
 * The rate of the daemon as a whole. Each connector that sends has an equal share, which nobody takes from it; what the
 * others leave of theirs may be taken by who has used up the own one.
 */
import { createBucket, waitFor, type Bucket } from './bucket.js'

/** A connector that sent nothing for so long has no share. */
const quietMs = 10_000

interface Share {
  readonly bucket: Bucket
  asked: number
}

export interface Shares {
  /** Milliseconds to wait; where there is room now it is 0, and `take` in the same turn takes it. */
  wait(connector: string, now: number): number
  take(): void
}

export const createShares = (rate: number): Shares => {
  const shares = new Map<string, Share>()
  let all: Bucket | undefined
  let found: readonly Bucket[] = []
  const dropQuiet = (now: number): void => {
    for (const [connector, { asked }] of shares) if (now - asked > quietMs) shares.delete(connector)
  }
  /** What is there of all shares, which is nobody else's. */
  const held = (each: number, now: number): number => {
    let sum = 0
    for (const { bucket } of shares.values()) sum += bucket.level(each, now)
    return sum
  }
  return {
    wait(connector, now) {
      const whole = (all ??= createBucket(rate, now))
      dropQuiet(now)
      const known = shares.get(connector)
      const each = rate / (known === undefined ? shares.size + 1 : shares.size)
      const share = known ?? { bucket: createBucket(each, now), asked: now }
      share.asked = now
      shares.set(connector, share)
      const left = whole.level(rate, now)
      const own = share.bucket.level(each, now)
      found = own >= 1 ? [whole, share.bucket] : [whole]
      return own >= 1 || left - held(each, now) >= 1 ? 0 : waitFor(own, each)
    },
    take: () => found.forEach((bucket) => bucket.take()),
  }
}
