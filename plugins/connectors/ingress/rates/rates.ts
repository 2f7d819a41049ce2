/** How many new events there may be: of a connector, of a part of it such as a channel, and of all together. */
import { hash } from 'node:crypto'
import type { Clock } from '../../../../core/plugin.js'
import type { Connector } from '../../registry/contract.js'
import { createBucket, waitFor, type Bucket } from './bucket.js'
import { createShares } from './shares.js'

/** Parts of connectors that are told apart at a time; those beyond have one rate together. */
const mostScopes = 10_000
/** A bucket that was left alone for so long is full. */
const fullMs = 1000
/** Characters of a scope that is kept as it is: outsiders name theirs. */
const mostScope = 200

const short = (scope: string): string => (scope.length <= mostScope ? scope : hash('sha256', scope))

export interface Rates {
  /** Counts one; the ms to wait where there is no room. */
  take(connector: Connector, scope: string | undefined): number | undefined
}

interface Used {
  readonly bucket: Bucket
  at: number
}

/** Of this life of the daemon alone. */
export const createRates = (clock: Pick<Clock, 'elapsed'>, perSecond: number): Rates => {
  /** Operators made as many as there are. */
  const whole = new Map<string, Used>()
  /** In the order in which they were used. */
  const scoped = new Map<string, Used>()
  const shares = createShares(perSecond)
  const dropFull = (now: number): void => {
    for (const [scope, { at }] of scoped) {
      if (now - at < fullMs) return
      scoped.delete(scope)
    }
  }
  const bucketOf = (name: string, scope: string | undefined, { rate, now }: { rate: number; now: number }): Bucket => {
    dropFull(now)
    const place = scope === undefined ? name : `${name} ${short(scope)}`
    const isApart = scope !== undefined && (scoped.has(place) || scoped.size < mostScopes)
    const [buckets, key] = isApart ? [scoped, place] : [whole, scope === undefined ? name : `${name} others`]
    const used = buckets.get(key) ?? { bucket: createBucket(rate, now), at: now }
    used.at = now
    buckets.delete(key)
    buckets.set(key, used)
    return used.bucket
  }
  return {
    take({ kind, name, settings: { ingress_events_per_second: asked } }, scope) {
      const [now, rate] = [clock.elapsed(), Math.max(1, asked)]
      const connector = `${kind}:${name}`
      const bucket = bucketOf(connector, scope, { rate, now })
      const level = bucket.level(rate, now)
      if (level < 1) return waitFor(level, rate)
      const wait = shares.wait(connector, now)
      if (wait > 0) return wait
      bucket.take()
      shares.take()
      return undefined
    },
  }
}
