/** What a metric collected, each value copied once, as a monitoring system can read it. */
import { assert } from '../base/assert.js'
import { wellFormed } from '../base/text/well-formed.js'

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

/** Series of one metric, and characters of all their labels, at most. */
const [mostSeries, mostText] = [10_000, 1024 * 1024]

const labelName = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/u

interface Named {
  readonly name: string
}
type Labels = Readonly<Record<string, string>>

const labelOf = ([label, text]: readonly [string, unknown]): [string, string] => {
  assert(labelName.test(label), `the label ${JSON.stringify(label)} of a metric must match ${labelName.source}`)
  assert(typeof text === 'string', `the label ${label} of a metric must be a text`)
  return [label, wellFormed(text)]
}

const numberOf = (name: string, value: unknown): number => {
  assert(typeof value === 'number', `the values of the metric ${name} must be numbers`)
  return value
}

const isIterable = (value: unknown): boolean => typeof Object(value)[Symbol.iterator] === 'function'

/** What it is given may be endless, or change while it is read. */
const copied = <S extends { readonly labels?: Labels }>(
  { name }: Named,
  collected: Iterable<S>,
  copy: (one: S, labels: Labels) => S,
): readonly S[] => {
  assert(isIterable(collected), `what the metric ${name} collects must be a list of its values`)
  const series = new Map<string, S>()
  let text = 0
  for (const one of collected) {
    assert(typeof one === 'object' && one !== null, `each value of the metric ${name} must be an object`)
    const labels = Object.fromEntries(Object.entries(one.labels ?? {}).map(labelOf))
    const key = JSON.stringify(Object.entries(labels))
    text += key.length
    assert(series.size < mostSeries && text <= mostText, `a metric must have ${mostSeries} values at most`)
    assert(!series.has(key), 'the values of a metric must differ in their labels')
    series.set(key, copy(one, labels))
  }
  return [...series.values()]
}

/** Those of a gauge or a counter. Throws what could not be read. */
export const samplesOf = (metric: Named, collected: Iterable<Sample>): readonly Sample[] =>
  copied(metric, collected, ({ value }, labels) => ({ labels, value: numberOf(metric.name, value) }))

/** Those of a histogram. Throws what could not be read. */
export const distributionsOf = (
  metric: Named & { readonly bounds: readonly number[] },
  collected: Iterable<Distribution>,
): readonly Distribution[] =>
  copied(metric, collected, ({ buckets: given, sum }, labels) => {
    const { name, bounds } = metric
    assert(!('le' in labels), `the label le of the metric ${name} is taken by its bounds`)
    assert(Array.isArray(given), `the buckets of the metric ${name} must be a list`)
    const buckets = Array.from({ length: bounds.length + 1 }, (_, at) => numberOf(name, given[at]))
    assert(given.length === buckets.length, `the metric ${name} must have a bucket for each bound, and one`)
    return { labels, buckets, sum: numberOf(name, sum) }
  })
