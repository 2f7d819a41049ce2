/** What the daemon measures of itself, for `GET /metrics`: told when it is asked for, from what is counted anyway. */
import { unsafeCast } from '../base/schema.js'
import { definePoint, hasMembers, withAnswers, type Point } from '../base/token.js'
import { distributionsOf, samplesOf, type Distribution, type Sample } from './series.js'

/** What a metric collects. */
export type { Distribution, Sample } from './series.js'

interface Named {
  /** `service_` and words in snake case, with the unit at its end; of a counter `_total` behind that. */
  readonly name: string
  /** One sentence. */
  readonly help: string
}
/** A number that goes up and down. `collect` must be fast, must do no I/O and gives 10,000 values at most. */
export interface Gauge extends Named {
  readonly type: 'gauge'
  readonly collect: () => Iterable<Sample>
}
/** A number that only grows while the daemon lives. Its `collect` is as that of a gauge. */
export interface Counter extends Named {
  readonly type: 'counter'
  readonly collect: () => Iterable<Sample>
}
/** A distribution over fixed, ascending bounds. Its `collect` is as that of a gauge. */
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

/** What stands for the values of a metric that failed, and was charged. */
export const uncollectedSeries: readonly never[] = Object.freeze([])

/** As what no compiler has seen is taken. */
const takenSeries = (metric: Metric, collected: unknown): Iterable<Sample> =>
  metric.type === 'histogram'
    ? unsafeCast(distributionsOf(metric, unsafeCast(collected)))
    : samplesOf(metric, unsafeCast(collected))

/** Everything that `GET /metrics` tells, by its name. */
export const Metrics: Point<Metric> = withAnswers(
  definePoint<Metric>('metrics@1', (metric) => metric.name, metricFault),
  {
    collect: {
      take: (collected: unknown, _mind: unknown, metric: unknown) => takenSeries(unsafeCast<Metric>(metric), collected),
      otherwise: uncollectedSeries,
    },
  },
)
