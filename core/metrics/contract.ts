/** What the daemon measures of itself, for `GET /metrics`: told when it is asked for, from what is counted anyway. */
import { definePoint, hasMembers, type Point } from '../base/token.js'

/** One value and what it is of. Values of labels must be bounded: no ids, and no text of callers or models. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}
/** How often something took how long. */
export interface Distribution {
  readonly labels?: Readonly<Record<string, string>>
  /** For each bound of the metric how many were not above it, and at last how many there were. */
  readonly buckets: readonly number[]
  readonly sum: number
}

interface Named {
  /** `service_` and words in snake case, with the unit at its end; of a counter `_total` behind that. */
  readonly name: string
  /** One sentence. */
  readonly help: string
}
/** A number that goes up and down. `collect` must be fast and must do no I/O. */
export interface Gauge extends Named {
  readonly type: 'gauge'
  readonly collect: () => Iterable<Sample>
}
/** A number that only grows while the daemon lives. `collect` must be fast and must do no I/O. */
export interface Counter extends Named {
  readonly type: 'counter'
  readonly collect: () => Iterable<Sample>
}
/** A distribution over fixed, ascending bounds. `collect` must be fast and must do no I/O. */
export interface Histogram extends Named {
  readonly type: 'histogram'
  readonly bounds: readonly number[]
  readonly collect: () => Iterable<Distribution>
}
/** What is told under one name. */
export type Metric = Gauge | Counter | Histogram

const lacking = hasMembers<Metric>('a metric', { name: 'text', help: 'text', type: 'text', collect: 'function' })
const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/u
const types: readonly string[] = ['gauge', 'counter', 'histogram'] satisfies readonly Metric['type'][]

const isAscending = (bounds: unknown): boolean =>
  Array.isArray(bounds) &&
  bounds.every((bound, at) => typeof bound === 'number' && Number.isFinite(bound) && !(bound <= bounds[at - 1]))

/**
 * What a monitoring system would refuse, for with one wrong name it reads nothing of the rest either, and names that do
 * not say what they are of.
 */
const metricFault = (metric: Metric): string | undefined => {
  const fault = lacking(metric)
  if (fault !== undefined) return fault
  const { name, type } = metric
  if (!metricName.test(name))
    return `the name ${JSON.stringify(name)} of a metric must be of letters, digits, underscores and colons alone`
  if (!name.startsWith('service_')) return `the name ${name} of a metric must begin with service_`
  if (!types.includes(type)) return `the type of the metric ${name} must be one of ${types.join(', ')}`
  if (type === 'counter' && !name.endsWith('_total')) return `the name ${name} of a counter must end with _total`
  if (metric.type === 'histogram' && !isAscending(metric.bounds))
    return `the bounds of the metric ${name} must be numbers, each above the one before it`
  return undefined
}

/** Everything that `GET /metrics` tells, by its name. */
export const Metrics: Point<Metric> = definePoint<Metric>('metrics@1', (metric) => metric.name, metricFault)
