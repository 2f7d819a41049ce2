/** What `/v1/status` says about deliveries (deliveries-23). */
import {
  commandLine,
  integer,
  object,
  optional,
  string,
  timestamp,
  type Clock,
  type HealthCheck,
  type Infer,
  type Log,
  type Warning,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { deliveryStatuses } from './contract.js'
import type { DeliveryStore } from './store.js'
import { lookMs } from './turn.js'
import type { LaneFacts, Worker } from './worker.js'

const count = () => integer({ min: 0 })
const DeliveryStatus = object({
  pending: count(),
  retrying: count(),
  delivered: count(),
  dead_lettered: count(),
  unresolved_dead_lettered: count(),
  ready: count(),
  dispatchable: count(),
  target_count: count(),
  blocked_target_count: count(),
  throttled_target_count: count(),
  open_circuit_target_count: count(),
  next_attempt_at_ms: optional(timestamp()),
  next_target_available_at_ms: optional(timestamp()),
  worker_started_at_ms: optional(timestamp()),
  worker_heartbeat_at_ms: optional(timestamp()),
  worker_lag_ms: optional(count()),
  status_error_count: count(),
  status_error: optional(string()),
})
type DeliveryStatus = Infer<typeof DeliveryStatus>

export interface StatusParts {
  readonly store: DeliveryStore
  readonly worker: Worker
  readonly clock: Clock
  readonly log: Log
}

const lagWarningMs = 60_000
const unavailable = 'delivery_status_unavailable'

/** The section and the warnings that belong to it: both tell when it could not be collected. */
export const deliveryStatus = (
  parts: StatusParts,
): { readonly section: StatusSection; readonly health: HealthCheck } => {
  const errors: { count: number; last?: string } = { count: 0 }
  const collect = (): DeliveryStatus => {
    const failures = { status_error_count: errors.count }
    try {
      const collected = { ...facts(parts), ...failures }
      delete errors.last
      return collected
    } catch (error) {
      parts.log.error('the status of deliveries could not be collected', { error })
      errors.count += 1
      errors.last = unavailable
      return { ...nothing, status_error_count: errors.count, status_error: unavailable }
    }
  }
  return {
    section: { name: 'delivery', schema: DeliveryStatus, collect: () => collect() },
    health: { id: 'deliveries', check: () => warningsOf(parts, collect()) },
  }
}

const nothing = {
  pending: 0,
  retrying: 0,
  delivered: 0,
  dead_lettered: 0,
  unresolved_dead_lettered: 0,
  ready: 0,
  dispatchable: 0,
  target_count: 0,
  blocked_target_count: 0,
  throttled_target_count: 0,
  open_circuit_target_count: 0,
}

const countsOf = ({ store: { deliveries } }: StatusParts) => {
  const [pending, retrying, delivered, dead_lettered] = deliveryStatuses.map((status) =>
    deliveries.count('status', status),
  )
  return {
    pending: pending ?? 0,
    retrying: retrying ?? 0,
    delivered: delivered ?? 0,
    dead_lettered: dead_lettered ?? 0,
    unresolved_dead_lettered: deliveries.count('unresolved', 'unresolved'),
  }
}

/** Only the head of a lane can wait for a repetition; all behind it have been due since they were enqueued. */
const facts = (parts: StatusParts): Omit<DeliveryStatus, 'status_error_count'> => {
  const { worker, clock } = parts
  const now = clock.now()
  const lanes = worker.lanes()
  const open = lanes.filter(({ head }) => head !== undefined)
  const waits = open.flatMap(({ wait }) => (wait === undefined ? [] : [wait]))
  const counts = countsOf(parts)
  const attempts = open.flatMap(({ head }) => (head === undefined ? [] : [head.next_attempt_at_ms]))
  return {
    ...counts,
    ready:
      counts.pending +
      counts.retrying -
      open.filter(({ head }) => head?.status === 'retrying' && head.next_attempt_at_ms > now).length,
    dispatchable: open.length - waits.length,
    target_count: open.length,
    blocked_target_count: waits.length,
    throttled_target_count: waits.filter(({ because }) => because === 'throttle').length,
    open_circuit_target_count: lanes.filter(({ circuit_ms }) => circuit_ms > 0).length,
    ...(attempts.length > 0 && { next_attempt_at_ms: least(attempts) }),
    ...(waits.length > 0 && { next_target_available_at_ms: Math.ceil(now + least(waits.map(({ ms }) => ms))) }),
    ...beatOf(parts, lanes),
  }
}

const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b))

/** Lag is what a lane that can go on has waited for its turn, or how late the worker is with its look at all lanes. */
const beatOf = ({ worker: { beat }, clock }: StatusParts, lanes: readonly LaneFacts[]) => {
  if (beat.started_at_ms === undefined || beat.at_ms === undefined) return {}
  const late = Math.max(0, clock.elapsed() - beat.elapsed - lookMs)
  const lag = lanes.reduce((most, { queued_ms }) => Math.max(most, queued_ms), late)
  return {
    worker_started_at_ms: beat.started_at_ms,
    worker_heartbeat_at_ms: beat.at_ms,
    worker_lag_ms: Math.round(lag),
  }
}

const warningsOf = ({ store: { deliveries }, worker }: StatusParts, status: DeliveryStatus): Warning[] => [
  ...(status.status_error === undefined
    ? []
    : [
        {
          severity: 'error' as const,
          code: unavailable,
          message: 'The status of deliveries could not be collected.',
          action: 'See the log of the daemon.',
        },
      ]),
  ...deadLetters(deliveries.ids('unresolved', 'unresolved')),
  ...lag(status.worker_lag_ms ?? 0),
  ...refused(worker.refused()),
]

const deadLetters = ({ [0]: first, length }: readonly string[]): Warning[] =>
  first === undefined
    ? []
    : [
        {
          severity: 'warning',
          code: 'delivery_dead_letters',
          related_id: first,
          message: length === 1 ? 'A delivery is a dead letter.' : `${length} deliveries are dead letters.`,
          action:
            'See why: holdfast deliveries dead-letter. Mend the target, then, for each: ' +
            `${commandLine('deliveries replay', first)}. One that need not arrive any more: ` +
            commandLine('deliveries resolve', first),
        },
      ]

const lag = (ms: number): Warning[] =>
  ms < lagWarningMs
    ? []
    : [
        {
          severity: 'warning',
          code: 'delivery_worker_lag',
          message: `Deliveries wait for their turn for ${Math.round(ms / 1000)} s.`,
          action: 'Raise --delivery-max-parallel, or see which targets are slow: holdfast deliveries list',
        },
      ]

const refused = ({ [0]: first, length }: readonly string[]): Warning[] =>
  first === undefined
    ? []
    : [
        {
          severity: 'error',
          code: 'delivery_unrecorded',
          related_id: first,
          message:
            `A change to the deliveries of ${length === 1 ? 'a target' : `${length} targets`} cannot be recorded; ` +
            `it is tried again every ${lookMs / 1000} s.`,
          action: 'See why in the log of the daemon, at: a delivery could not be recorded.',
        },
      ]
