import { defaulted, doc, integer, object, string, type Infer } from '../../../../core/plugin.js'

const ms = (fallback: number, sentence: string, min = 0) =>
  doc(defaulted(integer({ min, max: 30 * 86_400_000 }), fallback), `${sentence} Milliseconds.`)
const count = (fallback: number, sentence: string, min = 1) =>
  doc(defaulted(integer({ min, max: 1_000_000 }), fallback), sentence)

export const runsConfig = object({
  max_concurrent_runs: count(128, 'Runs that execute at the same time; others wait in their queues.'),
  max_queued_runs: count(10_000, 'Queued runs of one session, at most.'),
  max_turns: count(500, 'Model answers of one run, at most; 0 is no limit.', 0),
  run_time_limit_ms: ms(6 * 3_600_000, 'Longest execution of a run; waiting for people does not count.', 1),
  model_attempts: count(3, 'Attempts at one model answer when the failure is worth a repetition.'),
  model_retry_base_ms: ms(500, 'Wait before the second attempt; doubled for each further one.'),
  model_retry_max_ms: ms(60_000, 'Longest wait between attempts where the provider asks for none.'),
  model_patience_ms: ms(
    5 * 60_000,
    'How long a run that has not acted yet goes on asking a model route that is down, busy or out of reach.',
  ),
  stop_grace_ms: ms(10_000, 'How long a step may take to end after it was told to.', 1),
  drain_ms: ms(5000, 'How long steps may go on when the daemon stops, before they are told to end.'),
  approval_expires_after_ms: doc(
    defaulted(integer({ min: 0, max: 365 * 86_400_000 }), 0),
    'How long a request for approval stays open before it is denied because nobody decided; 0 is for ever. ' +
      'Milliseconds.',
  ),
  max_unclean_boots: count(3, 'Deaths of the daemon during one run after which the run is set aside.'),
  context_max_bytes: doc(
    defaulted(integer({ min: 10_000, max: 1_000_000_000 }), 4_000_000),
    'Size of the conversation that a model is shown, about; the oldest runs are left out first.',
  ),
  compact_at_percent: doc(
    defaulted(integer({ min: 0, max: 100 }), 80),
    'Share of the room that a conversation has in the window of its model, from which it is summed up; 0 is never.',
  ),
  system_prompt: doc(
    defaulted(
      string({ max: 200_000 }),
      'You are a careful assistant. Use the tools when they help, and say plainly what you did.',
    ),
    'What every model is told first.',
  ),
  queued_run_lag_warning_threshold_ms: ms(30 * 60_000, 'Age of a queued run from which status warns.', 1),
  stale_non_terminal_run_threshold_ms: ms(30 * 60_000, 'Idle time of an open run from which status warns.', 1),
})
export type RunsConfig = Infer<typeof runsConfig>

export const runsFlags = {
  max_turns: 'agent-max-turns',
  max_concurrent_runs: 'max-concurrent-runs',
  model_patience_ms: 'model-patience-ms',
  system_prompt: 'system-prompt',
  approval_expires_after_ms: 'approval-expires-after-ms',
  queued_run_lag_warning_threshold_ms: 'queued-run-lag-warning-threshold-ms',
  stale_non_terminal_run_threshold_ms: 'stale-non-terminal-run-threshold-ms',
}
