import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { shippedPlugins } from '../../../../../core/shipped.js'
import type { JsonObject } from '../../../../../core/plugin.js'
import { Runs } from '../../../../../plugins/execution/runs/contract.js'
import {
  scheduleErrors,
  SchedulePayloads,
  type PayloadFire,
} from '../../../../../plugins/execution/schedules/contract.js'
import type { ScheduleParts } from '../../../../../plugins/execution/schedules/dispatch/parts.js'
import type { ScheduleCommits } from '../../../../../plugins/execution/schedules/dispatch/schedule-commits.js'
import { createWorker } from '../../../../../plugins/execution/schedules/dispatch/worker.js'
import { silent } from '../../../../faults/stillness.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { createFaultyDisk } from '../../../../../core/testing/faulty-disk.js'
import { createLeapingClock } from '../../../../../core/testing/leaping-clock.js'
import { openSession } from '../../../../support/runs.js'
import {
  makeSchedule,
  scheduleBody,
  scheduledRuns,
  scheduleUntil,
  settledTimes,
} from '../../../../support/schedules.js'
import { testPlugin } from '../../../../support/plugins.js'

const hour = 3_600_000
const start = async (t: any, options: Parameters<typeof startTestDaemon>[1] = {}) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { clock, ...options })
  await openSession(daemon)
  return { clock, daemon }
}

test(
  'schedules-24: a wall clock that is set forward is noticed within a minute: the fires between are one ' +
    'execution, and the next is in the future',
  async (t) => {
    const { clock, daemon } = await start(t)
    const made = await makeSchedule(daemon)
    clock.jump(5.5 * hour)
    clock.leap(60_000)
    const view = await scheduleUntil(daemon, made.schedule_id, settledTimes(1))
    t.is(view.recent_executions[0].fire_at_ms, made.next_fire_at_ms + 4 * hour)
    t.is(view.next_fire_at_ms, made.next_fire_at_ms + 5 * hour)
  },
)

test('a wall clock that is set back is noticed within a minute: fires go on from now, and none that ran runs again', async (t) => {
  const { clock, daemon } = await start(t)
  const { schedule_id, next_fire_at_ms: first } = await makeSchedule(daemon, { overlap_policy: 'parallel' })
  for (const count of [1, 2, 3]) {
    clock.leap(hour)
    await scheduleUntil(daemon, schedule_id, settledTimes(count))
  }
  clock.jump(-2.5 * hour)
  clock.leap(60_000)
  await scheduleUntil(daemon, schedule_id, ({ next_fire_at_ms }) => next_fire_at_ms === first)
  for (const count of [1, 2, 3]) {
    clock.leap(hour)
    await scheduleUntil(daemon, schedule_id, ({ next_fire_at_ms }) => next_fire_at_ms === first + count * hour)
  }
  clock.leap(hour)
  const view = await scheduleUntil(daemon, schedule_id, settledTimes(4))
  t.deepEqual(
    view.recent_executions.map(({ fire_at_ms }: any) => (fire_at_ms - first) / hour),
    [0, 1, 2, 3],
  )
  t.is((await scheduledRuns(daemon)).length, 4)
})

test('a fire that the wall passes between a jump back and the next look is not lost', async (t) => {
  const { clock, daemon } = await start(t)
  const { schedule_id, next_fire_at_ms: first } = await makeSchedule(daemon)
  clock.jump(10.5 * hour)
  clock.leap(60_000)
  await scheduleUntil(daemon, schedule_id, settledTimes(1))
  clock.jump(first - 10_000 - clock.now())
  clock.leap(60_000)
  const view = await scheduleUntil(daemon, schedule_id, settledTimes(2))
  t.deepEqual(
    view.recent_executions.map(({ fire_at_ms }: any) => (fire_at_ms - first) / hour),
    [9, 0],
  )
})

test('a clock that goes back behind the start of the daemon makes no fire a missed one', async (t) => {
  const { clock, daemon } = await start(t)
  const { schedule_id, next_fire_at_ms: first } = await makeSchedule(daemon, {
    misfire_policy: { type: 'skip_missed' },
  })
  clock.jump(first - 3 * hour - 90_000 - clock.now())
  clock.leap(60_000)
  await scheduleUntil(daemon, schedule_id, ({ next_fire_at_ms }) => next_fire_at_ms === first - 3 * hour)
  clock.leap(30_000)
  const view = await scheduleUntil(daemon, schedule_id, settledTimes(1))
  t.is(view.recent_executions[0].fire_at_ms, first - 3 * hour)
})

test('many that are due at once are dispatched in order of their fires, and requests are answered meanwhile', async (t) => {
  const root = await freshRoot()
  const { clock, daemon } = await start(t, { root, config: { schedules: { dispatch_enabled: false } } })
  const now = clock.now()
  const places = Array.from({ length: 300 }, (_, n) => (n * 77) % 300)
  for (const session of ['s2', 's3']) await openSession(daemon, session)
  await Promise.all(
    places.map((place) =>
      daemon.request(
        'POST',
        '/v1/schedules',
        scheduleBody({
          name: String(place),
          owner_session_id: `s${1 + (place % 3)}`,
          cadence: { type: 'once', fire_at_ms: now + 60_000 + place },
        }),
      ),
    ),
  )
  await daemon.stop()
  clock.leap(120_000)
  const again = await startTestDaemon(t, { root, clock })
  t.is((await again.request('GET', '/v1/schedules?limit=1')).status, 200)
  for (const { schedule_id } of (await again.request('GET', '/v1/schedules')).body)
    await scheduleUntil(again, schedule_id, ({ status }) => status === 'completed')
  const names = new Map(
    (await again.request('GET', '/v1/schedules')).body.map(({ schedule_id, name }: any) => [schedule_id, Number(name)]),
  )
  t.deepEqual(
    (await scheduledRuns(again)).map(({ request }) => names.get(request.actor_id)),
    Array.from({ length: 300 }, (_, n) => n),
  )
  const folder = join(root, 'log')
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  const dispatched = lines.findLastIndex((line) => line.includes('"status":"dispatched"'))
  const started = lines.findIndex((line) => line.includes('"type":"started"'))
  t.true(dispatched > 0 && started > dispatched, `all are dispatched before the first is executed: ${started}`)
})

test('schedules-30: a fire while storage takes no changes is made up for when it does again, once', async (t) => {
  const { disk, fail, heal } = createFaultyDisk()
  const { clock, daemon } = await start(t, { disk })
  const { schedule_id, next_fire_at_ms } = await makeSchedule(daemon)
  fail('full')
  clock.leap(hour)
  while ((await daemon.request('POST', '/v1/schedules', scheduleBody())).status !== 503) {
    /* until the daemon knows */
  }
  clock.leap(2 * hour)
  heal()
  const tick = setInterval(() => clock.leap(1000), 20)
  t.teardown(() => clearInterval(tick))
  const view = await scheduleUntil(daemon, schedule_id, settledTimes(1))
  clearInterval(tick)
  t.true(view.next_fire_at_ms > clock.now() - 1000)
  t.is(view.recent_executions[0].fire_at_ms, view.next_fire_at_ms - hour)
  t.true(view.recent_executions[0].fire_at_ms >= next_fire_at_ms)
})

test('a plugin brings a payload kind: it checks the payload and makes the run of each fire', async (t) => {
  const fires: PayloadFire[] = []
  const plugin = testPlugin('flows', {
    needs: { runs: Runs },
    register: (ctx, { runs }) =>
      ctx.contribute(SchedulePayloads, {
        kind: 'flow_start',
        check: (payload: JsonObject, { recurring }) => {
          if (recurring && 'flow_id' in payload)
            throw scheduleErrors.invalid_schedule({
              details: { field: 'flow_start.flow_id', rule: 'is made for each fire' },
            })
          return { ...payload, checked: true }
        },
        dispatch: (payload: JsonObject, fire: PayloadFire) => {
          fires.push(fire)
          return runs.submit({
            session_id: fire.target_session_id,
            kind: 'scheduled_input',
            input: { content: String(payload['text']) },
            receipt: fire.receipt,
          })
        },
      }),
  })
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'flows')
  const { clock, daemon } = await start(t, { shipped, plugins: [plugin] })
  const flow = (more: object): Record<string, unknown> => ({
    request: undefined,
    flow_start: { text: 'begin', ...more },
  })
  t.is(
    (await daemon.request('POST', '/v1/schedules', scheduleBody(flow({ flow_id: 'f' })))).body.code,
    'invalid_schedule',
  )
  const made = await makeSchedule(daemon, flow({}))
  t.deepEqual(made.flow_start, { text: 'begin', checked: true })
  t.false('request' in made)
  clock.leap(hour)
  await scheduleUntil(daemon, made.schedule_id, settledTimes(1))
  t.like(fires[0], {
    schedule_id: made.schedule_id,
    fire_at_ms: made.next_fire_at_ms,
    target_session_id: 's1',
    receipt: { scope: `schedule:${made.schedule_id}`, key: String(made.next_fire_at_ms) },
  })
  t.is((await scheduledRuns(daemon))[0].request.text_preview, 'begin')
})

/** A worker for which so many commits of fires are to be filled. */
const fill = (count: number, claim: () => Promise<never[]>) => {
  const kept = { left: count }
  const commits = unsafeCast<ScheduleCommits>({
    due: () => (kept.left > 0 ? [{}] : []),
    claim() {
      kept.left -= 1
      return claim()
    },
    sweep: async () => undefined,
    reckon: async () => undefined,
  })
  const parts = unsafeCast<ScheduleParts>({
    clock: createClock(),
    runs: { onEnded: () => () => undefined },
    store: { schedules: { list: () => [] } },
    config: { retry_base_delay_ms: 60_000, retry_max_delay_ms: 60_000, retry_jitter_ms: 0 },
    ids: { random: () => 0 },
    log: silent,
  })
  return { kept, end: createWorker(parts, commits).begin() }
}

const turns = async (): Promise<void> => {
  for (let n = 0; n < 50; n += 1) await setImmediate()
}

test('a commit of fires is filled while those before it go to the disk: a few at a time', async (t) => {
  const written: (() => void)[] = []
  const { kept, end } = fill(20, () => new Promise((resolve) => written.push(() => resolve([]))))
  await turns()
  t.is(kept.left, 4)
  written.shift()?.()
  await turns()
  t.is(kept.left, 3)
  const ended = end()
  for (const done of written) done()
  await ended
  t.is(kept.left, 3)
})

test('others are served between any two commits of fires, also when all that were filled are written at once', async (t) => {
  const written: (() => void)[] = []
  const filled: number[] = []
  let turn = 0
  const { end } = fill(30, () => {
    filled.push(turn)
    return new Promise((resolve) => written.push(() => resolve([])))
  })
  for (; turn < 50; turn += 1) {
    if (turn === 30) for (const done of written.splice(0)) done()
    await setImmediate()
  }
  t.is(filled.length, 30)
  t.is(new Set(filled).size, 30)
  for (const done of written) done()
  await end()
})

test('when a commit of fires fails, no more are filled before the next look', async (t) => {
  const { kept, end } = fill(10, async () => {
    throw new Error('no disk')
  })
  await turns()
  t.is(kept.left, 9)
  await end()
})
