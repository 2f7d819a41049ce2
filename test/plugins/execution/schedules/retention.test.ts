/** What becomes of schedules that are over: docs/rules/retention.md. */
import test from 'ava'
import { resolve } from 'node:path'
import { copyRoot } from '../../../support/copied-root.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { startDaemonTools } from '../../../support/daemon-tools.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { day, retain, stand } from '../../../support/retention.js'
import { codeOf as problemOf, openSession } from '../../../support/runs.js'
import { makeSchedule, scheduleUntil, settledTimes } from '../../../support/schedules.js'
import { codeOf } from '../../../support/tools.js'

const weekOfSchedules = { kinds: { schedules: { max_age: '8d' } } }
const once = { type: 'once', fire_at_ms: 1 }
const isOver = ({ status }: any): boolean => status === 'completed'

test('retention-9: a schedule that is over falls with its history; one that goes on keeps both', async (t) => {
  const daemon = await stand(t, weekOfSchedules)
  const { request, clock } = daemon
  await openSession(daemon)
  const [over, active, paused] = [
    await makeSchedule(daemon, { cadence: once }),
    await makeSchedule(daemon, { cadence: { type: 'interval', every_seconds: 20 * 86_400 } }),
    await makeSchedule(daemon),
  ].map(({ schedule_id }) => `/v1/schedules/${schedule_id}`)
  const idOf = (path = ''): string => path.slice('/v1/schedules/'.length)
  await request('POST', `${active}/trigger`)
  await request('POST', `${paused}/pause`)
  await scheduleUntil(daemon, idOf(over), isOver)
  const before = await scheduleUntil(daemon, idOf(active), settledTimes(1))
  t.is((await request('GET', over ?? '')).body.recent_executions.length, 1)
  await retain(daemon, true)
  clock.leap(10 * day)
  await makeSchedule(daemon, { cadence: once })
  t.like((await retain(daemon, false)).parts, [{ kind: 'schedules', cause: 'age', records: 1 }])
  const { body } = await request('GET', active ?? '')
  t.deepEqual(body.recent_executions, before.recent_executions)
  t.is((await request('GET', paused ?? '')).body.status, 'paused')
  t.is((await request('GET', '/v1/schedules')).body.length, 3)
  const verbs = ['cancel', 'pause', 'resume', 'trigger'].map((verb) => request('POST', `${over}/${verb}`))
  const answers = [request('GET', over ?? ''), request('GET', `${over}/preview`), ...verbs]
  for (const answer of await Promise.all(answers)) t.deepEqual(problemOf(answer), [404, 'schedule_expired'])
  t.deepEqual(problemOf(await request('GET', '/v1/schedules/none')), [404, 'schedule_not_found'])
})

test('retention-9: a cancelled schedule whose run goes on does not fall', async (t) => {
  const daemon = await stand(t, weekOfSchedules)
  const { request, clock } = daemon
  await openSession(daemon)
  const { schedule_id } = await makeSchedule(daemon, { cadence: once, request: { content: '/ask Well? | A | B' } })
  const path = `/v1/schedules/${schedule_id}`
  await scheduleUntil(daemon, schedule_id, (view) => view.in_flight_run_id !== undefined)
  await request('POST', `${path}/cancel`)
  await retain(daemon, true)
  clock.leap(20 * day)
  t.deepEqual((await retain(daemon, false)).parts, [])
  const { body } = await request('GET', path)
  await request('POST', `/v1/runs/${body.in_flight_run_id}/cancel`)
  await scheduleUntil(daemon, schedule_id, settledTimes(1))
  await retain(daemon, true)
  clock.leap(20 * day)
  t.is((await retain(daemon, false)).parts.length, 1)
  t.deepEqual(problemOf(await request('GET', path)), [404, 'schedule_expired'])
})

test('retention-9: schedules fall by count too, the oldest first', async (t) => {
  const daemon = await stand(t, { min_age: '1h', kinds: { schedules: { max_count: 1 } } })
  await openSession(daemon)
  const ids: string[] = []
  for (let at = 0; at < 3; at += 1) {
    const { schedule_id } = await makeSchedule(daemon, { cadence: once })
    ids.push((await scheduleUntil(daemon, schedule_id, isOver)).schedule_id)
    await retain(daemon, true)
    daemon.clock.leap(day)
  }
  t.like((await retain(daemon, false)).parts, [{ kind: 'schedules', cause: 'count', records: 2 }])
  const left = (await daemon.request('GET', '/v1/schedules')).body
  t.deepEqual(
    left.map(({ schedule_id }: any) => schedule_id),
    ids.slice(2),
  )
})

test('retention-9: the tools of schedules say that one fell', async (t) => {
  const clock = createLeapingClock()
  const { daemon, call } = await startDaemonTools(t, { clock, config: { retention: weekOfSchedules } })
  await openSession(daemon)
  const { schedule_id } = (await call('schedule_create', { name: 'n', message: 'm', every_seconds: 60 })).output
    .schedule
  await call('schedule_cancel', { schedule_id })
  await retain(daemon, true)
  clock.leap(20 * day)
  await retain(daemon, false)
  for (const name of ['get', 'pause', 'resume', 'trigger_now', 'cancel'])
    t.is(codeOf(await call(`schedule_${name}`, { schedule_id })), 'schedule_expired', name)
  t.is(codeOf(await call('schedule_get', { schedule_id: 'none' })), 'schedule_not_found')
})

test('a root of an earlier version, which keeps histories apart: those of schedules that are over join them', async (t) => {
  const root = copyRoot(t, resolve(import.meta.dirname, '../../../../../test/core/state/store/roots/one-index'))
  const daemon = await startTestDaemon(t, { root })
  const { body } = await daemon.request('GET', '/v1/schedules')
  const over = body.find(({ status }: any) => status === 'completed')
  t.is(over.recent_executions.length, 1)
  await daemon.stop()
  const line = createCommandLine(daemon)
  const stored = await line('state', 'show', 'schedules', over.schedule_id, '--state-root', root)
  t.deepEqual(JSON.parse(stored.out).executions, over.recent_executions, stored.err)
  t.regex((await line('state', 'show', 'schedule_histories', over.schedule_id, '--state-root', root)).err, /absent/u)
  const again = await startTestDaemon(t, { root })
  t.deepEqual((await again.request('GET', `/v1/schedules/${over.schedule_id}`)).body, over)
})
