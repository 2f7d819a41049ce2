/** What `GET /metrics` says of calls that are held back. */
import { createCount, type Count, type Metric } from '../../../core/plugin.js'
import type { ModelRoute } from './contract.js'

export interface PaceMetrics {
  readonly held: Count
  readonly metrics: readonly Metric[]
}

export const createPaceMetrics = (routes: () => readonly ModelRoute[]): PaceMetrics => {
  const held = createCount({
    name: 'service_model_calls_held_total',
    help: 'Model calls that were held back because their server asked for time, by route.',
    labels: ['route'],
  })
  const waiting: Metric = {
    name: 'service_model_calls_waiting',
    help: 'Model calls that are held back now because their server asked for time, by route.',
    type: 'gauge',
    collect: () =>
      routes().flatMap(({ route_id: route, pace }) =>
        pace === undefined ? [] : [{ labels: { route }, value: pace().waiting }],
      ),
  }
  return { held, metrics: [held.metric, waiting] }
}
