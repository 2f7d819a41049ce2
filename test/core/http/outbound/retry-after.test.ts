import test from 'ava'
import { retryAfter } from '../../../../core/http/outbound/retry-after.js'

test('deliveries-28: Retry-After is read as seconds and as a date, and nothing else is taken for either', (t) => {
  const now = Date.UTC(2026, 0, 1)
  const cases: readonly [string | undefined, number | undefined][] = [
    ['0', 0],
    ['1', 1000],
    ['1.5', 1500],
    [' 120 ', 120_000],
    ['999999999', 999_999_999_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Thu Jan  1 00:02:00 2026', 120_000],
    ['Sat Jan 10 00:00:00 2026', 9 * 86_400_000],
    ['20, 40', 40_000],
    ['40,20', 40_000],
    ['20, soon', undefined],
    ['20,', undefined],
    ['Thu Jan 1 2026', undefined],
    ['Thu Jan 99 00:02:00 2026', undefined],
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['1e3', undefined],
    ['9'.repeat(10), 999_999_999_000],
    ['9'.repeat(40), 999_999_999_000],
    ['9'.repeat(400), 999_999_999_000],
    [`${'0'.repeat(40)}7`, 7000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 999_999_999_000],
    ['2026-01-01T00:00:30Z', undefined],
    ['Thu, 99 Jan 2026', undefined],
  ]
  for (const [header, ms] of cases) t.is(retryAfter(header, now), ms, String(header))
})
