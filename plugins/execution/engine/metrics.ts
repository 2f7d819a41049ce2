/** What `GET /metrics` says about the steps of runs. */
import { createMeasure, type Metric } from '../../../core/plugin.js'
import type { RunObserver } from './contract.js'

export const createStepMetrics = (): { readonly observer: RunObserver; readonly metrics: readonly Metric[] } => {
  const attempts = createMeasure({
    name: 'service_model_attempt_seconds',
    help: 'How long attempts of runs at a model answer took, by route, and whether there was an answer.',
    labels: ['route', 'result'],
  })
  const calls = createMeasure({
    name: 'service_tool_call_seconds',
    help: 'How long tool calls took, by tool, and whether they gave a result.',
    labels: ['tool', 'result'],
  })
  return {
    metrics: [attempts.metric, calls.metric],
    observer: {
      name: 'metrics',
      active: true,
      observe({ kind, name, outcome, duration_ms }) {
        const of = kind === 'model' ? attempts : calls
        of.observe(duration_ms / 1000, name, answered.has(outcome) ? 'answered' : 'failed')
      },
    },
  }
}
const answered: ReadonlySet<string> = new Set(['stop', 'tool_calls', 'length', 'result', 'ask'])
