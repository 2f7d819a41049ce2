/** A strict reader of the text format of Prometheus, version 0.0.4. */
import { assert, fault } from '../../core/base/assert.js'

export interface Family {
  readonly type: string
  /** By name and labels as they stand. */
  readonly series: ReadonlyMap<string, number>
}

const label = String.raw`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"`
const line = new RegExp(
  String.raw`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(${label}(?:,${label})*)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?|[+-]Inf|NaN)$`,
  'u',
)
const suffixes: Readonly<Record<string, readonly string[]>> = {
  gauge: [''],
  counter: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

const numberOf = (text: string): number => Number(text.replace('Inf', 'Infinity'))

/** Checks that buckets grow, end at infinity and agree with their count. */
const checkHistogram = (name: string, series: ReadonlyMap<string, number>): void => {
  const groups = new Map<string, { le: number; value: number }[]>()
  for (const [key, value] of series) {
    const found = /^.*_bucket\{(?:(.*),)?le="([^"]+)"\}$/u.exec(key)
    if (found === null) continue
    const group = groups.get(found[1] ?? '') ?? []
    groups.set(found[1] ?? '', [...group, { le: numberOf(found[2] ?? ''), value }])
  }
  for (const [labels, buckets] of groups) {
    const shown = labels === '' ? '' : `{${labels}}`
    buckets.reduce((before, now) => {
      assert(now.le > before.le && now.value >= before.value, `the buckets of ${name}${shown} do not grow`)
      return now
    })
    assert(buckets.at(-1)?.le === Infinity, `${name}${shown} has no last bucket`)
    assert(series.get(`${name}_count${shown}`) === buckets.at(-1)?.value, `${name}${shown} has another count`)
    assert(series.has(`${name}_sum${shown}`), `${name}${shown} has no sum`)
  }
}

/** Throws for anything that a scraper could stumble over. */
export const readMetrics = (text: string): ReadonlyMap<string, Family> => {
  assert(text.endsWith('\n'), 'the last line has no end')
  const families = new Map<string, { type: string; series: Map<string, number> }>()
  let now: { name: string; type: string; series: Map<string, number> } | undefined
  let helped: string | undefined
  for (const one of text.slice(0, -1).split('\n')) {
    const help = /^# HELP (\S+) (?:[^\\]|\\[\\n])+$/u.exec(one)
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/u.exec(one)
    if (help !== null) {
      helped = help[1]
      assert(helped !== undefined && !families.has(helped), `${helped} comes twice`)
    } else if (type !== null) {
      const [, name = '', kind = ''] = type
      assert(name === helped, `${name} has no HELP before its TYPE`)
      assert(/^[a-z][a-z0-9_]*$/u.test(name), `${name} is no name`)
      assert((kind === 'counter') === name.endsWith('_total'), `${name} is a ${kind}`)
      now = { name, type: kind, series: new Map() }
      families.set(name, now)
    } else {
      const found = line.exec(one)
      if (found === null || now === undefined) throw fault(`cannot be read: ${one}`)
      const [, name = '', labels, value = ''] = found
      const { name: family, type: kind, series } = now
      assert(
        (suffixes[kind] ?? []).some((suffix) => name === family + suffix),
        `${name} is not of ${family}`,
      )
      const key = labels === undefined ? name : `${name}{${labels}}`
      assert(!series.has(key), `${key} comes twice`)
      assert(kind === 'gauge' || numberOf(value) >= 0, `${key} is below zero`)
      series.set(key, numberOf(value))
    }
  }
  for (const [name, { type, series }] of families) if (type === 'histogram') checkHistogram(name, series)
  return families
}

/** Series of counters and histograms that are smaller or missing in the later one. */
export const fallen = (before: ReadonlyMap<string, Family>, after: ReadonlyMap<string, Family>): string[] =>
  [...before].flatMap(([name, { type, series }]) =>
    type === 'gauge'
      ? []
      : [...series].flatMap(([key, value]) => ((after.get(name)?.series.get(key) ?? -1) < value ? [key] : [])),
  )
