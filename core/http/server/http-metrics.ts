/** How requests were answered: by route and class of status. Of an event stream its beginning counts. */
import type { Metric, Sample } from '../../metrics/contract.js'

/** Told of each request that was answered; `route` is the id of its route, or `none`. */
export type Answered = (route: string, status: number) => void

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

export const createHttpMetrics = (): { readonly answered: Answered; readonly metrics: readonly Metric[] } => {
  const counts = new Map<string, Float64Array>()
  const samples = ([route, row]: readonly [string, Float64Array]): Sample[] =>
    classes.flatMap((status, at) => {
      const value = row[at] ?? 0
      return value === 0 ? [] : [{ labels: { route, status }, value }]
    })
  return {
    answered(route, status) {
      const row = counts.get(route) ?? new Float64Array(classes.length)
      counts.set(route, row)
      const at = Math.floor(status / 100) - 1
      row[at] = (row[at] ?? 0) + 1
    },
    metrics: [
      {
        name: 'service_http_requests_total',
        help: 'Requests that were answered, by the id of their route and the class of their status.',
        type: 'counter',
        collect: () => [...counts].flatMap(samples),
      },
    ],
  }
}
