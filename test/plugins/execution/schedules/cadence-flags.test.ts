import test from 'ava'
import { cadenceOf } from '../../../../plugins/execution/schedules/cadence-flags.js'

const noon = new Date(2027, 0, 31, 12, 0).getTime()
const cadence = (flags: Readonly<Record<string, string>>) => cadenceOf({ flags, now: () => noon })

test('a span is understood in seconds, minutes, hours and days', (t) => {
  const spans = { 90: 90, '90s': 90, '5m': 300, '2h': 7200, '1d': 86_400, ' 5 m ': 300 }
  for (const [every, every_seconds] of Object.entries(spans))
    t.deepEqual(cadence({ every }), { type: 'interval', every_seconds }, every)
  for (const every of ['', '5x', '-5', '5m30s', 'm', '1.5h'])
    t.throws(() => cadence({ every }), { message: /--every must be a time such as/u }, every)
})

test('a time of day is its next, in the time zone of the one who asks', (t) => {
  const at = (text: string) => cadence({ at: text })
  t.deepEqual(at('17:30'), { type: 'once', fire_at_ms: new Date(2027, 0, 31, 17, 30).getTime() })
  t.deepEqual(at('9:05'), { type: 'once', fire_at_ms: new Date(2027, 1, 1, 9, 5).getTime() })
  t.deepEqual(at('12:00'), { type: 'once', fire_at_ms: new Date(2027, 1, 1, 12, 0).getTime() })
  t.deepEqual(at('2027-01-31T09:00:00+01:00'), { type: 'once', fire_at_ms: Date.UTC(2027, 0, 31, 8) })
  t.deepEqual(at('1801000000000'), { type: 'once', fire_at_ms: 1_801_000_000_000 })
  for (const text of ['24:00', '5', 'tomorrow', '', '17:60', '2027-13-01'])
    t.throws(() => at(text), { message: /--at must be a time such as/u }, text)
})

test('a cron expression goes with a time zone, and nothing that was given is dropped', (t) => {
  t.deepEqual(cadence({ cron: '0 3 * * *', timezone: 'Europe/Berlin' }), {
    type: 'cron',
    expression: '0 3 * * *',
    timezone: 'Europe/Berlin',
  })
  t.throws(() => cadence({ cron: '0 3 * * *', at: '9:00' }), { message: '--at does not go with --cron' })
  t.throws(() => cadence({ at: '9:00', timezone: 'UTC' }), { message: '--timezone does not go with --at' })
})
