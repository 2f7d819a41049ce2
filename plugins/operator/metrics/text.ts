/** Metrics in the text format of Prometheus, version 0.0.4. */
import { assertNever, type Metric, type Sample } from '../../../core/plugin.js'

/** What the text is of. */
export const textType = 'text/plain; version=0.0.4; charset=utf-8'

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' }
const escaped = (text: string, what: RegExp): string => text.replace(what, (found) => escapes[found] ?? found)

const number = (value: number): string =>
  Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'

const line = (name: string, { labels = {}, value }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text, /[\\\n"]/gu)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${number(value)}`
}

const linesOf = (metric: Metric): string[] => {
  const { name } = metric
  switch (metric.type) {
    case 'gauge':
    case 'counter':
      return [...metric.collect()].map((sample) => line(name, sample))
    case 'histogram':
      return [...metric.collect()].flatMap(({ labels, buckets, sum }) => [
        ...buckets.map((value, at) =>
          line(`${name}_bucket`, { labels: { ...labels, le: number(metric.bounds[at] ?? Infinity) }, value }),
        ),
        line(`${name}_sum`, { ...(labels !== undefined && { labels }), value: sum }),
        line(`${name}_count`, { ...(labels !== undefined && { labels }), value: buckets.at(-1) ?? 0 }),
      ])
    default:
      return assertNever(metric)
  }
}

/** All that is told under one name. Throws what its `collect` throws. */
export const familyText = (metric: Metric): string => {
  const { name, help, type } = metric
  const head = [`# HELP ${name} ${escaped(help, /[\\\n]/gu)}`, `# TYPE ${name} ${type}`]
  return [...head, ...linesOf(metric), ''].join('\n')
}
