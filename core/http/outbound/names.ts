/** The addresses of names: each name is asked for once at a time, few at a time, and known for a moment. */
import { lookup } from 'node:dns/promises'
import { createCache } from '../../base/memory/cache.js'
import type { Clock } from '../../base/clock.js'

/** An address that a name resolves to. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}
/** All addresses of a name. Rejects if there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** How long an answer may be used; a failure is never kept. */
const keptMs = 5000
const mostKept = 512

interface Known {
  readonly addresses: readonly ResolvedAddress[]
  /** By the monotonic clock. */
  readonly until: number
}

/** Keeps what `resolve` finds for five seconds, and asks for each name once at a time. */
export const rememberNames = (resolve: Resolve, clock: Clock): Resolve => {
  const kept = createCache<Known>(mostKept)
  const asked = new Map<string, Promise<readonly ResolvedAddress[]>>()
  const ask = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    try {
      const addresses = await resolve(hostname)
      kept.set(hostname, { addresses, until: clock.elapsed() + keptMs })
      return addresses
    } finally {
      asked.delete(hostname)
    }
  }
  return (hostname) => {
    const known = kept.get(hostname)
    if (known !== undefined && clock.elapsed() < known.until) return Promise.resolve(known.addresses)
    const running = asked.get(hostname) ?? ask(hostname)
    asked.set(hostname, running)
    return running
  }
}

/** Runs at most `most` lookups at a time; the others wait in order. */
export const boundLookups = (resolve: Resolve, most: number): Resolve => {
  const waiting: (() => void)[] = []
  let free = most
  const place = (): Promise<void> | undefined => {
    if (free === 0) return new Promise((begin) => waiting.push(begin))
    free -= 1
    return undefined
  }
  return async (hostname) => {
    await place()
    try {
      return await resolve(hostname)
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

/** A lookup blocks one of the four threads that the disk needs too: the commits of the state keep one. */
const mostLookups = 3

/** Names as the machine resolves them, with its hosts file and search domains. */
export const createNames = (clock: Clock): Resolve =>
  rememberNames(
    boundLookups((hostname) => lookup(hostname, { all: true, verbatim: true }), mostLookups),
    clock,
  )
