import test from 'ava'
import { forecastOf, growthOf, sampled, sampleEvery, type Sample } from '../../../core/retention/growth.js'

const day = 86_400_000
const now = 1000 * day
/** Samples of a root, so many bytes at so many days ago. */
const samples = (...given: readonly (readonly [number, number])[]): Sample[] =>
  given.map(([ago, bytes]) => ({ at_ms: now - ago * day, bytes, kinds: { runs: bytes / 2 } }))

const rows: readonly (readonly [string, readonly Sample[], number | undefined])[] = [
  ['nothing is known of a new root', [], undefined],
  ['less than six hours tell nothing', samples([0.2, 0]), undefined],
  ['a day tells a rate', samples([1, 600]), 400],
  ['the rate is that of the last week', samples([9, 999_999], [7, 300], [6, 900]), 100],
  ['a root may shrink', samples([2, 1200]), -100],
  ['what a clock that was ahead left does not count', samples([-3, 0]), undefined],
  ['a month without a daemon tells nothing of last week', samples([30, 0]), undefined],
]
for (const [title, known, growth] of rows)
  test(`growth: ${title}`, (t) => t.is(growthOf(known, { at_ms: now, bytes: 1000, kinds: {} }), growth))

test('a forecast is the day on which the free bytes are used up, or says why there is none', (t) => {
  t.deepEqual(forecastOf(100, { free: 1000, now }), { forecast: 'full_at', full_at_ms: now + 10 * day })
  t.deepEqual(forecastOf(undefined, { free: 1000, now }), { forecast: 'unknown' })
  t.deepEqual(forecastOf(0, { free: 1000, now }), { forecast: 'not_growing' })
  t.deepEqual(forecastOf(-5, { free: 1000, now }), { forecast: 'not_growing' })
  t.deepEqual(forecastOf(0.001, { free: 1e15, now }), { forecast: 'not_growing' })
})

test('samples stay few, whatever the clock does', (t) => {
  let kept: readonly Sample[] = []
  for (let at = 0; at < 1000; at += 1) kept = sampled(kept, { at_ms: now + at * sampleEvery, bytes: at, kinds: {} })
  t.true(kept.length <= 30)
  t.is(growthOf(kept, { at_ms: now + 1000 * sampleEvery, bytes: 1000, kinds: {} }), 4)
  kept = sampled(kept, { at_ms: now, bytes: 1, kinds: {} })
  t.deepEqual(kept, [{ at_ms: now, bytes: 1, kinds: {} }])
  for (let at = 0; at < 1000; at += 1) kept = sampled(kept, { at_ms: now + at, bytes: at, kinds: {} })
  t.true(kept.length <= 30)
})

test('kinds have a rate of their own, and a new kind has none', (t) => {
  const kinds = { runs: 800, deliveries: 5 }
  const growth = (kind: string) =>
    growthOf(samples([1, 600]), { at_ms: now, bytes: 1000, kinds }, (sample) => sample.kinds[kind])
  t.deepEqual([growth('runs'), growth('deliveries')], [500, undefined])
})
