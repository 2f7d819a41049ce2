/** What `GET /metrics` says about runs. */
import { createCount, type Clock, type Metric } from '../../../core/plugin.js'
import { runStatuses, type TerminalRun } from './record/run-record.js'
import type { RunStore } from './record/store.js'

export interface RunMetrics {
  readonly metrics: readonly Metric[]
  ended(run: TerminalRun): void
}

export const createRunMetrics = (store: RunStore, clock: Clock): RunMetrics => {
  const ends = createCount({
    name: 'service_runs_ended_total',
    help: 'Runs that have ended since the start, by model route and status.',
    labels: ['route', 'status'],
  })
  return {
    ended: ({ provider, status }) => ends.add(1, provider, status),
    metrics: [
      ends.metric,
      {
        name: 'service_runs',
        help: 'Runs that are kept, by status.',
        type: 'gauge',
        collect: () => runStatuses.map((status) => ({ labels: { status }, value: store.runs.count('status', status) })),
      },
      {
        name: 'service_runs_executing',
        help: 'Runs that are executed now, by model route.',
        type: 'gauge',
        collect: () => executing(store),
      },
      {
        name: 'service_run_queue_lag_seconds',
        help: 'How long the run that was queued first has waited; 0 without one.',
        type: 'gauge',
        collect: () => [{ value: lagMs(store, clock.now()) / 1000 }],
      },
    ],
  }
}

/** No more of them than may run at once. */
const executing = ({ runs }: RunStore) => {
  const counts = new Map<string, number>()
  for (const run_id of runs.ids('status', 'running')) {
    const route = runs.find(run_id)?.provider
    if (route !== undefined) counts.set(route, (counts.get(route) ?? 0) + 1)
  }
  return [...counts].map(([route, value]) => ({ labels: { route }, value }))
}

const lagMs = ({ runs }: RunStore, now: number): number => {
  const [first] = runs.list({ index: 'status', group: 'queued', limit: 1 })
  return first === undefined ? 0 : Math.max(0, now - first.submitted_at_ms)
}
