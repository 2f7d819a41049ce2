/** What is counted of external connectors (external-43): of none before it does something. */
import type { Metric, Sample } from '../../../../core/plugin.js'

const statuses = {
  ingress: ['accepted', 'duplicate', 'rejected'],
  delivery: ['committed', 'retryable', 'terminal'],
} as const
const alone = ['rate_limited', 'child_restart', 'manifest_failure'] as const
/** What is counted of a connector. */
export type Counted = (typeof statuses.ingress)[number] | (typeof statuses.delivery)[number] | (typeof alone)[number]

export interface ExternalCounts {
  add(connector: string, what: Counted): void
  readonly metrics: readonly Metric[]
}

const prefix = 'service_external_connector'

export const createCounts = (): ExternalCounts => {
  const all = new Map<string, Map<Counted, number>>()
  const samples = (whats: readonly Counted[], labelled: boolean): Sample[] =>
    [...all].flatMap(([connector, counts]) =>
      whats.map((what) => ({
        labels: { connector, ...(labelled && { status: what }) },
        value: counts.get(what) ?? 0,
      })),
    )
  const counter = (name: string, help: string, whats: readonly Counted[]): Metric => ({
    name: `${prefix}_${name}`,
    help,
    type: 'counter',
    collect: () => samples(whats, whats.length > 1),
  })
  return {
    add(connector, what) {
      const counts = all.get(connector) ?? new Map<Counted, number>()
      counts.set(what, (counts.get(what) ?? 0) + 1)
      all.set(connector, counts)
    },
    metrics: [
      counter('ingress_total', 'Events of external connectors, by what became of them.', statuses.ingress),
      counter('ingress_rate_limited_total', 'Events that came faster than their connector allows.', ['rate_limited']),
      counter('delivery_total', 'Attempts to deliver to sidecars, by what became of them.', statuses.delivery),
      counter('child_restarts_total', 'Starts of sidecars again that had ended.', ['child_restart']),
      counter('manifest_fetch_failures_total', 'Manifests of sidecars that could not be had.', ['manifest_failure']),
    ],
  }
}
