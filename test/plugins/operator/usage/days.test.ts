import test from 'ava'
import { createDays } from '../../../../plugins/operator/usage/days.js'

const at = (text: string): number => Date.parse(text)

test('usage-7: a day is that of its zone, also where clocks are changed', (t) => {
  const utc = createDays('UTC')
  t.deepEqual(
    [utc.of(at('2026-11-22T23:59:59.999Z')), utc.of(at('2026-11-23T00:00:00Z'))],
    ['2026-11-22', '2026-11-23'],
  )
  t.is(utc.endOf(at('2026-11-22T12:00:00Z')), at('2026-11-23T00:00:00Z'))
  const berlin = createDays('Europe/Berlin')
  t.is(berlin.of(at('2026-11-22T23:00:00Z')), '2026-11-23')
  t.is(berlin.of(at('2026-11-22T22:59:59Z')), '2026-11-22')
  t.is(berlin.endOf(at('2026-10-24T22:00:00Z')), at('2026-10-25T23:00:00Z'), 'a day of 25 hours')
  t.is(berlin.endOf(at('2026-03-28T23:00:00Z')), at('2026-03-29T22:00:00Z'), 'a day of 23 hours')
  const kiritimati = createDays('Pacific/Kiritimati')
  t.is(kiritimati.of(at('2026-11-22T10:00:00Z')), '2026-11-23')
})

test('usage-7: a clock that goes back is in the earlier day', (t) => {
  const days = createDays('Europe/Berlin')
  t.is(days.of(at('2026-11-23T12:00:00Z')), '2026-11-23')
  t.is(days.of(at('2026-11-22T12:00:00Z')), '2026-11-22')
})
