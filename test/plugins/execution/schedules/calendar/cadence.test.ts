import test from 'ava'
import fc from 'fast-check'
import { fireAfter, lastFireBefore, type Beat } from '../../../../../plugins/execution/schedules/calendar/cadence.js'
import { cronFault } from '../../../../../plugins/execution/schedules/calendar/cron.js'
import { cronCases } from '../../../../golden/cron-fires.js'

const cron = (expression: string, timezone: string): Beat => ({
  cadence: { type: 'cron', expression, timezone },
  anchor_ms: 0,
})

test('an interval fires at its anchor and every so many seconds before and after it', (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 5, max: 100_000 }),
      fc.integer({ min: 0, max: 2 ** 41 }),
      fc.integer({ min: 0, max: 2 ** 41 }),
      (every_seconds, anchor_ms, after) => {
        const fire = fireAfter({ cadence: { type: 'interval', every_seconds }, anchor_ms }, after) ?? NaN
        return fire > after && fire - after <= every_seconds * 1000 && (fire - anchor_ms) % (every_seconds * 1000) === 0
      },
    ),
  )
  t.pass()
})

test('the last fire before a moment is found without counting those between', (t) => {
  for (const { expression, timezone, fires } of cronCases()) {
    const beat = cron(expression, timezone)
    const known = Date.parse(fires[0] ?? '')
    fires.forEach((fire, at) => {
      t.is(lastFireBefore(beat, known, Date.parse(fire) + 1), Date.parse(fire), `${expression} in ${timezone}`)
      if (at > 0) t.is(lastFireBefore(beat, known, Date.parse(fire)), Date.parse(fires[at - 1] ?? ''))
    })
  }
  const year = Date.parse('2027-01-01T00:00:30Z')
  t.is(lastFireBefore(cron('* * * * *', 'UTC'), Date.parse('2020-01-01T00:00:00Z'), year), year - 30_000)
  t.is(
    lastFireBefore(
      cron('*/5 * * JAN *', 'UTC'),
      Date.parse('2020-01-01T00:00:00Z'),
      Date.parse('2026-12-01T00:00:00Z'),
    ),
    Date.parse('2026-01-31T23:55:00Z'),
  )
  t.is(
    lastFireBefore({ cadence: { type: 'interval', every_seconds: 5 }, anchor_ms: 3 }, 5003, 1_000_000_003),
    999_995_003,
  )
})

test(
  'schedules-6: an expression is refused for its form, its zone, its fires and their distance, and each ' +
    'refusal says which',
  (t) => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    const fault = (expression: string, timezone = 'UTC'): string | undefined => {
      const broken = cronFault(expression, timezone, now)
      return broken === undefined ? undefined : `${broken.field} ${broken.rule}`
    }
    for (const fine of [
      '* * * * *',
      '*/5 * * * * *',
      '0 0 29 2 *',
      '0 0 L * *',
      '0 0 * * FRI#2',
      ' 0  7 * * MON-FRI ',
      '0,58 0,30 * * * *',
      '0 0 12 * * *',
    ])
      t.is(fault(fine), undefined, fine)
    for (const form of ['', '* * * *', '0 0 0 1 1 * 2030', '2030-01-01T00:00:00', '@daily'])
      t.is(fault(form), 'expression must have five fields, or six with seconds first', form)
    for (const odd of ['0 0 * * +5', '0 0 1.5 * *', '0 0 * * MON;'])
      t.is(fault(odd), 'expression holds a character that no cron field has', odd)
    for (const value of [
      '61 * * * *',
      '* 25 * * *',
      '0 0 0 * *',
      '0 0 * 13 *',
      '0 0 * * XYZ',
      '5-1 * * * *',
      '*/0 * * * *',
    ])
      t.is(fault(value), 'expression has a field that is no cron field, or a value out of range', value)
    for (const never of ['0 0 30 2 *', '0 0 31 4,6,9,11 *']) t.is(fault(never), 'expression never fires', never)
    for (const close of ['* * * * * *', '*/4 * * * * *', '0,3 0 0 1 1 *', '0,57 * * * * *', '59,0 0,59 * * * *'])
      t.is(fault(close), 'expression must not fire more often than every 5 seconds', close)
    for (const zone of ['', ' ', 'Local', 'GMT+2', '+02:00', 'Mars/Base', 'Europe'])
      t.is(fault('0 0 * * *', zone), 'timezone must be the name of an IANA time zone, such as Europe/Berlin', zone)
    for (const zone of ['UTC', 'Etc/GMT+2', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires'])
      t.is(fault('0 0 * * *', zone), undefined, zone)
  },
)
