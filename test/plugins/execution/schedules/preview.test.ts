import test from 'ava'
import { notesOf, previewOf } from '../../../../plugins/execution/schedules/preview.js'
import type { ScheduleRecord } from '../../../../plugins/execution/schedules/record/store.js'
import { localText } from '../../../../plugins/execution/schedules/calendar/zone.js'
import { scheduleRecord } from '../../../support/schedule-records.js'

const notes = (expression: string, timezone: string, at: string): string[] =>
  notesOf(expression, timezone, Date.parse(at))

test('a note names a wall time that a clock change leaves out, and one that it repeats', (t) => {
  const [berlin, newYork, howe] = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] as const
  const cases: [string, string, string, string[]][] = [
    [
      '30 2 * * *',
      berlin,
      '2026-03-29T01:00:00Z',
      ['02:30 does not exist on this day in Europe/Berlin: fires at 03:00'],
    ],
    [
      '15 30 2 * * *',
      berlin,
      '2026-03-29T01:00:00Z',
      ['02:30:15 does not exist on this day in Europe/Berlin: fires at 03:00'],
    ],
    ['0 3 * * *', berlin, '2026-03-29T01:00:00Z', []],
    ['30 2 * * *', berlin, '2026-03-30T00:30:00Z', []],
    [
      '30 2 * * *',
      berlin,
      '2026-10-25T00:30:00Z',
      ['02:30 happens twice on this day in Europe/Berlin: fires at the first'],
    ],
    [
      '30 1 * * *',
      newYork,
      '2026-11-01T05:30:00Z',
      ['01:30 happens twice on this day in America/New_York: fires at the first'],
    ],
    [
      '30 * * * *',
      newYork,
      '2026-11-01T05:30:00Z',
      ['01:30 happens twice on this day in America/New_York: fires at both'],
    ],
    ['30 * * * *', newYork, '2026-11-01T06:30:00Z', []],
    ['0 2 * * *', newYork, '2026-11-01T07:00:00Z', []],
    [
      '15 2 * * *',
      howe,
      '2026-10-03T15:30:00Z',
      ['02:15 does not exist on this day in Australia/Lord_Howe: fires at 02:30'],
    ],
    [
      '45 1 * * *',
      howe,
      '2026-04-04T14:45:00Z',
      ['01:45 happens twice on this day in Australia/Lord_Howe: fires at the first'],
    ],
    ['0 0 * * *', 'UTC', '2026-03-29T00:00:00Z', []],
  ]
  for (const [expression, timezone, at, expected] of cases)
    t.deepEqual(notes(expression, timezone, at), expected, `${expression} in ${timezone} at ${at}`)
})

test('local times carry the offset of their moment', (t) => {
  const at = (text: string): number => Date.parse(text)
  t.is(localText(at('2026-03-29T00:59:59Z'), 'Europe/Berlin'), '2026-03-29T01:59:59+01:00')
  t.is(localText(at('2026-03-29T01:00:00Z'), 'Europe/Berlin'), '2026-03-29T03:00:00+02:00')
  t.is(localText(at('2026-01-01T00:00:00.250Z'), 'Asia/Kolkata'), '2026-01-01T05:30:00+05:30')
  t.is(localText(at('2026-06-01T00:00:00Z'), 'America/St_Johns'), '2026-05-31T21:30:00-02:30')
  t.is(localText(at('2026-06-01T00:00:00Z'), 'UTC'), '2026-06-01T00:00:00+00:00')
})

test('the preview ends with the schedule: by its executions, by its single fire, by its status', (t) => {
  const now = 1_800_000_000_000
  const fires = (more: Partial<ScheduleRecord>): number[] =>
    previewOf(scheduleRecord({ ...more, now }), 5, now).fires.map(({ fire_at_ms }) => (fire_at_ms - now) / 1000)
  const interval = { type: 'interval', every_seconds: 60 } as const
  t.deepEqual(fires({ cadence: interval }), [60, 120, 180, 240, 300])
  t.deepEqual(fires({ cadence: interval, max_executions: 4, execution_count: 2 }), [60, 120])
  t.deepEqual(
    fires({ cadence: interval, status: 'paused', next_fire_at_ms: undefined, paused_remaining_ms: 10_000 }),
    [10, 70, 130, 190, 250],
  )
  t.deepEqual(
    fires({ cadence: { type: 'once', fire_at_ms: now + 7000 }, anchor_ms: now + 7000, next_fire_at_ms: now + 7000 }),
    [7],
  )
  for (const status of ['completed', 'canceled'] as const) t.deepEqual(fires({ cadence: interval, status }), [])
})
