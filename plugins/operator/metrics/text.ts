/** Metrics in the text format of Prometheus, version 0.0.4. */
import {
  distributionsOf,
  samplesOf,
  uncollectedSeries,
  unsafeCast,
  type Metric,
  type Sample,
} from '../../../core/plugin.js'

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

const linesOf = (metric: Metric, collected: ReturnType<Metric['collect']>): string[] => {
  const { name } = metric
  if (metric.type !== 'histogram') return samplesOf(metric, unsafeCast(collected)).map((sample) => line(name, sample))
  return distributionsOf(metric, unsafeCast(collected)).flatMap(({ labels = {}, buckets, sum }) => [
    ...buckets.map((value, at) =>
      line(`${name}_bucket`, { labels: { ...labels, le: number(metric.bounds[at] ?? Infinity) }, value }),
    ),
    line(`${name}_sum`, { labels, value: sum }),
    line(`${name}_count`, { labels, value: buckets.at(-1) ?? 0 }),
  ])
}

/**
 * All that is told under one name; nothing of one that failed and was charged. Throws what its `collect` throws, and
 * for what Prometheus could not read.
 */
export const familyText = (metric: Metric): string => {
  const { name, help, type } = metric
  const collected = metric.collect()
  if (collected === uncollectedSeries) return ''
  const head = [`# HELP ${name} ${escaped(help, /[\\\n]/gu)}`, `# TYPE ${name} ${type}`]
  return [...head, ...linesOf(metric, collected), ''].join('\n')
}
