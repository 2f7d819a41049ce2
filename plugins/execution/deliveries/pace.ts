/** When a target may be attempted: backoff, what it asked for, its circuit, and the distance between attempts. */
import { backoff, chance, type Clock, type Ids } from '../../../core/plugin.js'
import type { DeliveriesConfig } from './config.js'
import type { DeliveryOutcome } from './contract.js'
import type { OpenDelivery } from './store.js'

/** Times of the monotonic clock. What a restart needs is in the record of the delivery at the head. */
export interface Pace {
  /** Failures in a row. */
  failures: number
  /** The circuit is open until then. */
  openUntil: number
  /** The distance to the last attempt is kept until then. */
  clearAt: number
  /** A delivery that waits here until then, whatever the wall clock does. */
  resume: { readonly delivery_id: string; readonly at: number; readonly asked: boolean } | undefined
}

export const newPace = (): Pace => ({ failures: 0, openUntil: 0, clearAt: 0, resume: undefined })

export interface PaceParts {
  readonly config: DeliveriesConfig
  readonly clock: Clock
  readonly ids: Ids
}

/** What keeps a delivery from being attempted now, the longest first. */
export interface Wait {
  readonly ms: number
  readonly because: 'retry' | 'throttle' | 'circuit'
}

export const circuitWait = (pace: Pace, clock: Clock): number => Math.max(0, pace.openUntil - clock.elapsed())
/** How long a target must be remembered though nothing waits for it. */
export const memoryWait = (pace: Pace, clock: Clock): number =>
  Math.max(circuitWait(pace, clock), pace.clearAt - clock.elapsed())

/** Undefined if the delivery can be attempted now. */
export const waitOf = (parts: PaceParts, pace: Pace, head: OpenDelivery): Wait | undefined => {
  const { clock } = parts
  const waits: readonly Wait[] = [
    { ms: circuitWait(pace, clock), because: 'circuit' },
    {
      ms: retryWait(parts, pace, head),
      because: pace.resume?.delivery_id === head.delivery_id && pace.resume.asked ? 'throttle' : 'retry',
    },
    { ms: pace.clearAt - clock.elapsed(), because: 'throttle' },
  ]
  const longest = waits.reduce((most, wait) => (wait.ms > most.ms ? wait : most))
  return longest.ms > 0 ? longest : undefined
}

/** By the wall clock, as recorded. A clock that was set back holds nobody for longer than was meant. */
const retryWait = ({ config, clock }: PaceParts, { resume }: Pace, head: OpenDelivery): number => {
  if (head.attempts === 0) return 0
  const wall = head.next_attempt_at_ms - clock.now()
  if (wall > Math.max(config.max_retry_ms, config.max_retry_after_ms, config.circuit_cooldown_ms)) return 0
  return resume?.delivery_id === head.delivery_id ? Math.min(wall, resume.at - clock.elapsed()) : wall
}

/** Notes that an attempt begins. */
export const noteAttempt = ({ config, clock }: PaceParts, pace: Pace): void => {
  pace.clearAt = clock.elapsed() + config.target_min_interval_ms
}

/**
 * Notes how an attempt ended; returns the wait before the next one if it is to be repeated. A target that asks for time
 * is well, so it does not count for its circuit.
 */
export const noteOutcome = (
  parts: PaceParts,
  pace: Pace,
  { delivery, outcome }: { delivery: OpenDelivery; outcome: DeliveryOutcome },
): number => {
  const { config, clock } = parts
  if (outcome.type !== 'retry') {
    pace.failures = 0
    return 0
  }
  const { retry_after_ms } = outcome
  const asked = retry_after_ms !== undefined
  if (!asked) {
    pace.failures += 1
    if (pace.failures >= config.circuit_failure_threshold) pace.openUntil = clock.elapsed() + config.circuit_cooldown_ms
  }
  // One that asks for little each time would have all attempts at once.
  const ms = Math.ceil(
    Math.max(
      Math.min(retry_after_ms ?? 0, config.max_retry_after_ms),
      backoffWait(parts, delivery.attempts),
      circuitWait(pace, clock),
    ),
  )
  pace.resume = { delivery_id: delivery.delivery_id, at: clock.elapsed() + ms, asked }
  return ms
}

/**
 * Doubled for each attempt; up to a quarter is taken off by chance, so that what failed together is not repeated
 * together.
 */
const backoffWait = ({ config, ids }: PaceParts, attempts: number): number =>
  backoff({ base: config.initial_retry_ms, max: config.max_retry_ms }, attempts) * (1 - chance(ids) / 4)
