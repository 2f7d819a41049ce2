import { defaulted, doc, integer, object, optional, type Infer } from '../../../core/plugin.js'

const ms = (fallback: number, sentence: string, min = 0) =>
  doc(defaulted(integer({ min, max: 30 * 86_400_000 }), fallback), `${sentence} Milliseconds.`)
const count = (fallback: number, sentence: string) =>
  doc(defaulted(integer({ min: 1, max: 10_000 }), fallback), sentence)

/** Numbers of deliveries-11 to deliveries-18. */
export const deliveriesConfig = object({
  initial_retry_ms: ms(1000, 'Wait before the second attempt, at most; doubled for each further one.', 1),
  max_retry_ms: ms(60_000, 'Longest wait between attempts unless the target asks for more.', 1),
  max_retry_after_ms: ms(3_600_000, 'Longest wait that a target can ask for.', 1),
  max_attempts: count(8, 'Attempts before a delivery is a dead letter.'),
  target_min_interval_ms: ms(0, 'Shortest time between two attempts at one target.'),
  circuit_failure_threshold: count(3, 'Failures in a row after which a target is left alone for a while.'),
  circuit_cooldown_ms: ms(60_000, 'How long it is left alone before one attempt looks whether it is back.', 1),
  max_parallel: count(32, 'Targets that are delivered to at the same time.'),
  attempt_timeout_ms: ms(60_000, 'Longest attempt; reply plugins may end theirs earlier.', 1),
  dead_letter_max_age_ms: doc(
    optional(integer({ min: 3_600_000, max: 3650 * 86_400_000 })),
    'A dead letter that nobody has seen to for so long is resolved as `expired`, and can fall with what has arrived. ' +
      'Milliseconds. Kept until somebody does when absent.',
  ),
  drain_ms: doc(
    defaulted(integer({ min: 0, max: 8000 }), 5000),
    'How long attempts may go on when the daemon stops. Milliseconds.',
  ),
})
export type DeliveriesConfig = Infer<typeof deliveriesConfig>

export const deliveriesFlags = {
  initial_retry_ms: 'delivery-initial-retry-ms',
  max_retry_ms: 'delivery-max-retry-ms',
  max_retry_after_ms: 'delivery-max-retry-after-ms',
  max_attempts: 'delivery-max-attempts',
  target_min_interval_ms: 'delivery-target-min-interval-ms',
  circuit_failure_threshold: 'delivery-circuit-failure-threshold',
  circuit_cooldown_ms: 'delivery-circuit-cooldown-ms',
  max_parallel: 'delivery-max-parallel',
  drain_ms: 'delivery-drain-ms',
}
