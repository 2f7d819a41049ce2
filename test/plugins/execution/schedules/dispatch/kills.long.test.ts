import test from 'ava'
import { createRandom } from '../../../../faults/random.js'
import { freshRoot, spawnDaemon } from '../../../../support/daemon.js'
import { openSession } from '../../../../support/runs.js'
import { makeSchedule, scheduledRuns, scheduleBody, scheduleUntil } from '../../../../support/schedules.js'

const seed = Number(process.env['SCHEDULE_SEED'] ?? 7)

test(
  'a process that is killed again and again while schedules fire makes exactly one run of each fire (seed ' +
    `${seed})`,
  async (t) => {
    const random = createRandom(seed)
    const root = await freshRoot()
    let daemon = await spawnDaemon({ root })
    t.teardown(() => daemon.kill('SIGKILL'))
    const sessions = ['s1', 's2', 's3']
    for (const session of sessions) await openSession(daemon, session)
    const beating = await makeSchedule(daemon, {
      cadence: { type: 'interval', every_seconds: 5 },
      overlap_policy: 'parallel',
    })
    const acknowledged: string[] = []
    for (let kill = 0; kill < 10; kill += 1) {
      // The first answer brings the document that all others are checked against.
      await daemon.request('GET', '/v1/schedules?limit=1')
      const enough = acknowledged.length + 1 + random.below(12)
      let reached = (): void => {}
      const some = new Promise<void>((resolve) => {
        reached = resolve
      })
      const posted = Array.from({ length: 12 }, (_, n) =>
        daemon
          .request(
            'POST',
            '/v1/schedules',
            scheduleBody({
              target_session_id: sessions[n % 3],
              cadence: { type: 'once', fire_at_ms: 1 },
              request: { content: `/sleep ${random.below(30)}\n/say ${n}` },
            }),
          )
          .then(
            ({ status, body }) => {
              if (status === 201 && acknowledged.push(body.schedule_id) >= enough) reached()
            },
            () => {},
          ),
      )
      await some
      await new Promise((resolve) => setTimeout(resolve, random.below(25)))
      await daemon.kill('SIGKILL')
      await Promise.all(posted)
      daemon = await spawnDaemon({ root })
      if (random.chance(0.5)) continue
      await new Promise((resolve) => setTimeout(resolve, random.below(40)))
      await daemon.kill('SIGKILL')
      daemon = await spawnDaemon({ root })
    }
    t.true(acknowledged.length > 20)
    const listed = (await daemon.request('GET', '/v1/schedules')).body
      .filter(({ cadence }: any) => cadence.type === 'once')
      .map(({ schedule_id }: any) => schedule_id)
    t.deepEqual(
      acknowledged.filter((id) => !listed.includes(id)),
      [],
      'what was acknowledged is there',
    )
    for (const id of listed) await scheduleUntil(daemon, id, ({ status }) => status === 'completed')
    await daemon.request('POST', `/v1/schedules/${beating.schedule_id}/cancel`)
    const beat = await scheduleUntil(
      daemon,
      beating.schedule_id,
      ({ in_flight_run_id, in_flight_fire_at_ms }) =>
        in_flight_run_id === undefined && in_flight_fire_at_ms === undefined,
    )
    const runs = (await Promise.all(sessions.map((session) => scheduledRuns(daemon, session)))).flat()
    const by = (id: string): string[] =>
      runs.filter(({ request }) => request.actor_id === id).map(({ run_id }) => run_id)
    for (const id of listed) {
      const { recent_executions } = (await daemon.request('GET', `/v1/schedules/${id}`)).body
      t.deepEqual(
        by(id),
        recent_executions.map(({ run_id }: any) => run_id),
        id,
      )
      t.is(recent_executions.length, 1)
    }
    const fired = beat.recent_executions.filter(({ run_id }: any) => run_id !== undefined)
    // The last fifty are kept.
    const beats = by(beating.schedule_id).toSorted()
    t.true(beats.length === fired.length || fired.length === 50)
    t.deepEqual(beats.slice(beats.length - fired.length), fired.map(({ run_id }: any) => run_id).toSorted())
    t.is(new Set(fired.map(({ fire_at_ms }: any) => fire_at_ms)).size, fired.length)
    for (const { fire_at_ms } of fired) t.is((fire_at_ms - beating.next_fire_at_ms) % 5000, 0)
    await daemon.stop()
  },
)

test(`a process that is killed while very many fires are dispatched makes one run of each (seed ${seed})`, async (t) => {
  const random = createRandom(seed)
  const root = await freshRoot()
  let daemon = await spawnDaemon({ root })
  t.teardown(() => daemon.kill('SIGKILL'))
  const sessions = Array.from({ length: 10 }, (_, n) => `s${n}`)
  for (const session of sessions) await openSession(daemon, session)
  for (let kill = 0; kill < 3; kill += 1) {
    const fire_at_ms = Date.now() + 6000
    const cadence = { type: 'once', fire_at_ms }
    for (let n = 0; n < 20; n += 1)
      await Promise.all(sessions.map((target_session_id) => makeSchedule(daemon, { target_session_id, cadence })))
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, fire_at_ms - Date.now()) + random.below(150)))
    await daemon.kill('SIGKILL')
    daemon = await spawnDaemon({ root })
    for (const { schedule_id } of (await daemon.request('GET', '/v1/schedules')).body)
      await scheduleUntil(daemon, schedule_id, ({ status }) => status === 'completed')
  }
  const made = (await Promise.all(sessions.map((session) => scheduledRuns(daemon, session)))).flat()
  t.is(made.length, 600)
  t.is(new Set(made.map(({ request }) => request.actor_id)).size, 600)
  t.true(made.every(({ status }) => status === 'completed'))
})
