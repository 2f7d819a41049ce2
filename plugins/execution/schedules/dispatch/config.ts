import { boolean, defaulted, doc, integer, object, type Infer } from '../../../../core/plugin.js'

const ms = (fallback: number, sentence: string, min = 0) =>
  doc(defaulted(integer({ min, max: 86_400_000 }), fallback), `${sentence} Milliseconds.`)

export const schedulesConfig = object({
  dispatch_enabled: doc(defaulted(boolean(), true), 'False: schedules can be made and read, and none fires.'),
  retry_base_delay_ms: ms(
    500,
    'Wait before the second attempt to dispatch an execution; doubled for each further one.',
    1,
  ),
  retry_max_delay_ms: ms(30_000, 'Longest wait between attempts.', 1),
  retry_jitter_ms: ms(250, 'Up to so much is added to each wait, at random.'),
  retry_max_attempts: doc(
    defaulted(integer({ min: 0, max: 1_000_000 }), 0),
    'Attempts to dispatch one execution; 0 is no limit.',
  ),
  lag_warning_threshold_ms: ms(60_000, 'Lag of a due schedule from which status warns.', 1),
})
export type SchedulesConfig = Infer<typeof schedulesConfig>

export const schedulesFlags = {
  dispatch_enabled: 'scheduler-enabled',
  retry_base_delay_ms: 'scheduler-retry-base-delay-ms',
  retry_max_delay_ms: 'scheduler-retry-max-delay-ms',
  retry_jitter_ms: 'scheduler-retry-jitter-ms',
  retry_max_attempts: 'scheduler-retry-max-attempts',
}
