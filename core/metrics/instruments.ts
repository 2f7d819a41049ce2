/** What counts and measures where something happens: an addition to an array, and no object made on the way. */
import type { Counter, Distribution, Histogram, Metric, Sample } from './contract.js'

interface Described {
  readonly name: string
  readonly help: string
  /** Names of its labels; their values come in the same order. */
  readonly labels?: readonly string[]
}

/** Values of labels never hold it. */
const between = '\u0000'

const labelsOf = (names: readonly string[], key: string): Readonly<Record<string, string>> => {
  const values = key.split(between)
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
}

/** What is counted where it happens. */
export interface Count {
  readonly metric: Counter
  /** Adds to the count of these values of its labels. `by` must not be negative. */
  add(by: number, ...values: readonly string[]): void
}

export const createCount = ({ labels = [], ...described }: Described): Count => {
  const counts = new Map<string, number>(labels.length === 0 ? [['', 0]] : [])
  return {
    add(by, ...values) {
      const key = values.length === 1 ? (values[0] ?? '') : values.join(between)
      counts.set(key, (counts.get(key) ?? 0) + by)
    },
    metric: {
      ...described,
      type: 'counter',
      collect: () => [...counts].map(([key, value]): Sample => ({ labels: labelsOf(labels, key), value })),
    },
  }
}

/** Seconds, from a fast write to a slow answer of a model. */
export const secondBounds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]

/** What is measured where it happens. */
export interface Measure {
  readonly metric: Histogram
  /** Takes one value of these values of its labels. */
  observe(value: number, ...values: readonly string[]): void
}

interface Cells {
  readonly counts: Float64Array
  sum: number
}

export const createMeasure = ({
  labels = [],
  bounds = secondBounds,
  ...described
}: Described & { readonly bounds?: readonly number[] }): Measure => {
  const all = new Map<string, Cells>()
  const cellsOf = (key: string): Cells => {
    const found = all.get(key) ?? { counts: new Float64Array(bounds.length + 1), sum: 0 }
    all.set(key, found)
    return found
  }
  if (labels.length === 0) cellsOf('')
  return {
    observe(value, ...values) {
      const cells = cellsOf(values.length === 1 ? (values[0] ?? '') : values.join(between))
      const at = bounds.findIndex((bound) => value <= bound)
      const cell = at === -1 ? bounds.length : at
      cells.counts[cell] = (cells.counts[cell] ?? 0) + 1
      cells.sum += value
    },
    metric: {
      ...described,
      type: 'histogram',
      bounds,
      collect: () => [...all].map(([key, cells]) => distribution(labelsOf(labels, key), cells)),
    },
  }
}

const distribution = (labels: Readonly<Record<string, string>>, { counts, sum }: Cells): Distribution => {
  let so = 0
  const buckets = [...counts].map((count) => (so += count))
  return { labels, buckets, sum }
}

/** One gauge for each row: name, sentence, and what it tells now. */
export const gauges = (
  ...rows: readonly (readonly [name: string, help: string, value: () => number])[]
): readonly Metric[] =>
  rows.map(([name, help, value]) => ({ name, help, type: 'gauge', collect: () => [{ value: value() }] }))
