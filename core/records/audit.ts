/**
 * Keeps refusals of the control plane, for the operator (http-29). Whoever sends a request can cause one, so
 * they cost the disk little: like ones are one record with a count, written once a minute, and the oldest give way.
 */
import type { Clock } from '../base/clock.js'
import type { AuthRecord } from '../http/access/auth.js'
import type { Log } from '../base/text/log.js'
import type { Collection, CollectionSpec, State, StreamSpec } from '../state/contract.js'

/** Like refusals of one minute. Members of the first one are kept. */
export interface Refusal {
  /** Place in the ring, which is `number` modulo its size. */
  readonly slot: string
  /** Counts all records that were ever written. */
  readonly number: number
  readonly count: number
  readonly last_ms: number
  readonly first: AuthRecord
}

/** Records kept. */
export const ringSize = 1024
/** Different refusals of one minute; what is beyond is counted with the last of them. */
const mostKinds = 32
const pauseMs = 60_000

const slotOf = (number: number): string => String(number % ringSize).padStart(4, '0')

const spec: CollectionSpec<Refusal> = {
  name: 'control_plane_refusals',
  version: 1,
  id: ({ slot }) => slot,
  indexes: { all: { group: () => 'all', sort: ({ number }) => String(number).padStart(16, '0') } },
}
/** Where each refusal was appended once; what is there is kept. */
const earlier: StreamSpec<{ [K in keyof AuthRecord]: AuthRecord[K] }> = { name: 'control_plane_auth', version: 1 }

const kindOf = ({ event, reason, remote_addr, origin, method, path }: AuthRecord): string =>
  JSON.stringify([event, reason, remote_addr, origin, method, path])

export interface Audit {
  readonly refusals: Collection<Refusal>
  /** Takes a refusal; never waits. */
  record(refusal: AuthRecord): void
  /** Writes what is not yet written. */
  close(): Promise<void>
}

export interface AuditOptions {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

interface Tally {
  readonly first: AuthRecord
  count: number
  last_ms: number
}

/** Declares its records; call it before the state is loaded. A refusal that cannot be kept is only logged. */
export const createAudit = ({ state, clock, log }: AuditOptions): Audit => {
  const refusals = state.collection(spec)
  state.stream(earlier)
  let tallies = new Map<string, Tally>()
  let cancel: (() => void) | undefined
  let written: Promise<void> = Promise.resolve()

  const flush = (): void => {
    cancel?.()
    cancel = undefined
    const found = [...tallies.values()]
    tallies = new Map()
    if (found.length > 0)
      written = write({ state, refusals }, found).catch((error: unknown) =>
        log.warn('refused requests could not be recorded', { error }),
      )
  }
  return {
    refusals,
    record(refusal) {
      const kind = tallies.size < mostKinds ? kindOf(refusal) : 'others'
      const tally = tallies.get(kind) ?? { first: refusal, count: 0, last_ms: 0 }
      tally.count += 1
      tally.last_ms = refusal.timestamp_ms
      tallies.set(kind, tally)
      cancel ??= clock.after(pauseMs, flush)
    },
    close() {
      flush()
      return written
    },
  }
}

interface Ring {
  readonly state: State
  readonly refusals: Collection<Refusal>
}
const write = ({ state, refusals }: Ring, tallies: readonly Tally[]): Promise<void> =>
  state.commit((tx) => {
    const [newest] = refusals.list({ index: 'all', group: 'all', limit: 1, order: 'desc' })
    const next = (newest?.number ?? -1) + 1
    for (const [index, { first, count, last_ms }] of tallies.entries())
      tx.put(refusals, { slot: slotOf(next + index), number: next + index, count, last_ms, first })
  })
