/** What becomes of a dispatch that was refused (schedules-26). */
import { backoff, chance, doc, integer, named, object, Problem, type Ids, type Infer } from '../../../../core/plugin.js'

/** How dispatching is tried again; `scheduler_policy` of `GET /v1/runtime` (schedules-26). */
export const SchedulerPolicy = named(
  'SchedulerPolicy',
  object({
    retry_base_delay_ms: integer({ min: 1 }),
    retry_max_delay_ms: integer({ min: 1 }),
    retry_jitter_ms: integer({ min: 0 }),
    retry_max_attempts: doc(integer({ min: 0 }), '0 is no limit.'),
  }),
)
/** The value form of `SchedulerPolicy`. */
export type SchedulerPolicy = Infer<typeof SchedulerPolicy>

/** Refusals that pass: the session or its queue is busy, a route or the storage is not ready. The others are final. */
export const passes = (error: unknown): boolean =>
  error instanceof Problem &&
  (error.spec.status === 429 ||
    error.spec.status >= 500 ||
    error.code === 'route_not_ready' ||
    error.code === 'session_busy')

/** The wait behind attempt 1, 2, … */
export const retryDelay = (policy: SchedulerPolicy, attempt: number, ids: Ids): number =>
  backoff({ base: policy.retry_base_delay_ms, max: policy.retry_max_delay_ms }, attempt) +
  Math.floor(chance(ids) * (policy.retry_jitter_ms + 1))

export const isLastAttempt = ({ retry_max_attempts }: SchedulerPolicy, attempt: number): boolean =>
  retry_max_attempts > 0 && attempt >= retry_max_attempts

/** An error as it stands in a schedule: a stable code and a sentence. */
export const sentenceOf = (error: unknown): string =>
  error instanceof Problem
    ? `${error.code}: ${error.message}`
    : 'internal_error: The run could not be made; see the log of the daemon.'
