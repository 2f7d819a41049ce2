/** Metrics in the text format of Prometheus, version 0.0.4. */
import { assert, assertNever, type Metric, type Sample } from '../../../core/plugin.js'

/** What the text is of. */
export const textType = 'text/plain; version=0.0.4; charset=utf-8'

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }
const escaped = (text: string, what: RegExp): string => text.replace(what, (found) => escapes[found] ?? found)

const number = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'

const labelName = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/u

const pair = ([label, text]: readonly [string, unknown]): string => {
  assert(labelName.test(label), `the label ${JSON.stringify(label)} of a metric must match ${labelName.source}`)
  assert(typeof text === 'string', `the label ${label} of a metric must be a text`)
  return `${label}="${escaped(text, /[\\\n"]/gu)}"`
}

const line = (name: string, { labels = {}, value }: Sample): string => {
  assert(typeof value === 'number', `the values of the metric ${name} must be numbers`)
  const pairs = Object.entries(labels).map(pair)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${number(value)}`
}

/** Throws for lines that say two things of one series. */
const once = (lines: readonly string[]): readonly string[] => {
  const series = lines.map((text) => text.slice(0, text.lastIndexOf(' ')))
  assert(new Set(series).size === series.length, 'the values of a metric must differ in their labels')
  return lines
}

const linesOf = (metric: Metric): string[] => {
  const { name } = metric
  switch (metric.type) {
    case 'gauge':
    case 'counter':
      return [...metric.collect()].map((sample) => line(name, sample))
    case 'histogram':
      return [...metric.collect()].flatMap(({ labels = {}, buckets, sum }) => {
        assert(!('le' in labels), `the label le of the metric ${name} is taken by its bounds`)
        assert(
          buckets.length === metric.bounds.length + 1,
          `the metric ${name} must have a bucket for each bound, and one`,
        )
        return [
          ...buckets.map((value, at) =>
            line(`${name}_bucket`, { labels: { ...labels, le: number(metric.bounds[at] ?? Infinity) }, value }),
          ),
          line(`${name}_sum`, { labels, value: sum }),
          line(`${name}_count`, { labels, value: buckets.at(-1) ?? 0 }),
        ]
      })
    default:
      return assertNever(metric)
  }
}

/** All that is told under one name. Throws what its `collect` throws, and for what Prometheus could not read. */
export const familyText = (metric: Metric): string => {
  const { name, help, type } = metric
  const head = [`# HELP ${name} ${escaped(help, /[\\\n]/gu)}`, `# TYPE ${name} ${type}`]
  return [...head, ...once(linesOf(metric)), ''].join('\n')
}
