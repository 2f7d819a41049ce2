/**
 * Connections by origin and checked addresses, so that one is used again only for a request whose own check gave the
 * same addresses.
 */
import type { Dispatcher, Pool } from 'undici'
import { createCache } from '../../base/memory/cache.js'
import type { ResolvedAddress } from './names.js'

/** Where a request goes: its origin, and the addresses that were checked for it. */
export interface Place {
  readonly origin: string
  readonly addresses: readonly ResolvedAddress[]
}

export interface Pools {
  /** Sends on a free connection, in order of the calls. The handler is told how it ends. */
  dispatch(place: Place, request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): Promise<void>
  /** Ends every connection and every request. */
  close(): Promise<void>
}

const mostPools = 64
const maxHeaderSize = 16_384
/** Before the next address of a name is tried beside one that does not answer. */
const attemptMs = 2000

type Undici = typeof import('undici')

/** Time limits are those of the requests, from the lookup of the name on. */
const openPool = (undici: Undici, { origin, addresses }: Place, connections: number): Pool =>
  new undici.Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    connect: {
      timeout: 0,
      lookup: (_hostname, _options, found) =>
        found(
          null,
          addresses.map((one) => ({ ...one })),
        ),
    },
  })

const keyOf = ({ origin, addresses }: Place): string =>
  addresses.length === 1
    ? `${origin} ${addresses[0]?.address}`
    : `${origin} ${addresses
        .map(({ address }) => address)
        .toSorted()
        .join(' ')}`

/** At most so many connections to one place at a time. */
export const createPools = (connections: number): Pools => {
  const pools = createCache<Pool>(mostPools, (pool) => void pool.close())
  let loaded: Promise<Undici> | undefined
  const get = (undici: Undici, place: Place): Pool => {
    const key = keyOf(place)
    const pool = pools.get(key) ?? openPool(undici, place, connections)
    pools.set(key, pool)
    return pool
  }
  return {
    async dispatch(place, request, handler) {
      const undici = await (loaded ??= import('undici'))
      get(undici, place).dispatch(request, handler)
    },
    async close() {
      await Promise.all(pools.clear().map((pool) => pool.destroy()))
    },
  }
}
