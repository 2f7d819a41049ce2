/** docs/rules/retention.md, with whole daemons whose clock leaps. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../core/base/schema.js'
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { createLeapingClock, type LeapingClock } from '../../support/leaping-clock.js'
import { codeOf, openSession, submit, until } from '../../support/runs.js'

const day = 86_400_000

interface Stand extends TestDaemon {
  readonly clock: LeapingClock
}
const stand = async (t: ExecutionContext, retention: JsonObject, root?: string): Promise<Stand> => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { clock, config: { retention }, ...(root !== undefined && { root }) })
  return { ...daemon, clock }
}
const weekOfRuns = { kinds: { runs: { max_age: '8d' } } }

const retain = async ({ request }: TestDaemon, dry_run: boolean): Promise<any> => {
  const { status, body } = await request('POST', '/v1/retention', { dry_run })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body
}
const complete = async (daemon: TestDaemon, content: string, session_id = 's1'): Promise<string> => {
  const { run_id } = await submit(daemon, session_id, content)
  await until(daemon, run_id, 'completed')
  return run_id
}
const statusOf = async ({ request }: TestDaemon): Promise<any> => (await request('GET', '/v1/status')).body
/** Runs of one day each, from the oldest; every day is a partition of its own. */
const daysOfRuns = async (daemon: Stand, ...contents: readonly string[]): Promise<string[]> => {
  const ids: string[] = []
  for (const content of contents) {
    ids.push(await complete(daemon, content))
    await retain(daemon, true)
    daemon.clock.leap(day)
  }
  return ids
}

test('retention-3: runs that are older than max_age fall and are run_expired; younger ones stay', async (t) => {
  const daemon = await stand(t, weekOfRuns)
  await openSession(daemon)
  const old = await daysOfRuns(daemon, 'one', 'two')
  daemon.clock.leap(7.5 * day)
  const kept = await complete(daemon, 'three')
  await retain(daemon, false)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${old[0]}`)), [404, 'run_expired'])
  t.is((await daemon.request('GET', `/v1/runs/${old[1]}`)).status, 404)
  t.is((await daemon.request('GET', `/v1/runs/${kept}`)).status, 200)
  t.deepEqual(
    (await daemon.request('GET', '/v1/runs')).body.map(({ run_id }: any) => run_id),
    [kept],
  )
  const { session } = (await daemon.request('GET', '/v1/sessions/s1/events?after=0')).body
  t.is(session.first_seq, session.journal[0].seq)
  t.true(session.journal.every(({ run_id }: any) => run_id === kept))
})

test('what a dry run says falls, and nothing else', async (t) => {
  const daemon = await stand(t, weekOfRuns)
  await openSession(daemon)
  await daysOfRuns(daemon, 'one', 'two', 'three')
  daemon.clock.leap(6.5 * day)
  await complete(daemon, 'four')
  const said = await retain(daemon, true)
  const before = (await statusOf(daemon)).retention.kinds.runs
  t.is(said.parts.length, 1, JSON.stringify(said))
  t.like(said.parts[0], { kind: 'runs', cause: 'age', records: 2 })
  t.regex(said.parts[0].words, /^runs: 2 records from [\d-]+ to [\d-]+, [\d.]+ KiB, older than max_age$/u)
  const done = await retain(daemon, false)
  t.deepEqual(done.parts, said.parts)
  t.deepEqual((await retain(daemon, true)).parts, [])
  const after = (await statusOf(daemon)).retention
  t.is(after.kinds.runs.records, before.records - 2)
  t.like(after.fallen[0], { kind: 'runs', records: 2, bytes: said.parts[0].bytes })
})

const ask = '/ask Well? | A | B'
const waits: readonly (readonly [string, string, string])[] = [
  ['waits for an approval', '/tool bash {"command":"true"}', 'waiting_for_approval'],
  ['waits for an answer', ask, 'waiting_for_user_question'],
]
for (const [what, content, status] of waits)
  test(`retention-4: a run that ${what} never falls, nor does anything of it, however old it is`, async (t) => {
    const daemon = await stand(t, { kinds: { runs: { max_age: '8d' } } })
    await openSession(daemon)
    await openSession(daemon, 's2')
    const { run_id } = await submit(daemon, 's2', content)
    await until(daemon, run_id, status)
    const journal = async () => (await daemon.request('GET', '/v1/sessions/s2/events?after=0')).body.session
    const before = await journal()
    const [fallen] = await daysOfRuns(daemon, 'one', 'two')
    daemon.clock.leap(20 * day)
    await complete(daemon, 'three')
    const { parts } = await retain(daemon, false)
    t.is(parts.length, 1)
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${fallen}`)), [404, 'run_expired'])
    t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).body.status, status)
    t.deepEqual(await journal(), before)
    const { stays_because } = (await statusOf(daemon)).retention.kinds.runs
    t.regex(stays_because, new RegExp(`stay because runs ${run_id} is kept and may have a part`, 'u'))
    await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
    await until(daemon, run_id, 'cancelled', 'interrupted')
  })

test('retention-4: a run that is queued or running never falls', async (t) => {
  const daemon = await stand(t, { kinds: { runs: { max_age: '8d' } } })
  await openSession(daemon)
  await openSession(daemon, 's2')
  const asking = await submit(daemon, 's2', ask)
  const queued = await submit(daemon, 's2', 'queued')
  await until(daemon, asking.run_id, 'waiting_for_user_question')
  await daysOfRuns(daemon, 'one', 'two')
  daemon.clock.leap(20 * day)
  const { parts } = await retain(daemon, false)
  t.like(parts, [{ kind: 'runs', records: 2 }])
  t.is((await daemon.request('GET', `/v1/runs/${queued.run_id}`)).body.status, 'queued')
  await daemon.request('POST', `/v1/runs/${asking.run_id}/cancel`)
  await until(daemon, queued.run_id, 'completed')
})

test('retention-5: nothing younger than min_age falls, whatever max_count and max_bytes say', async (t) => {
  const daemon = await stand(t, { min_age: '3d', max_bytes: '64MiB', kinds: { runs: { max_count: 1 } } })
  await openSession(daemon)
  const ids = await daysOfRuns(daemon, 'one', 'two', 'three', 'four')
  const { parts, stays } = await retain(daemon, false)
  t.like(parts, [{ kind: 'runs', cause: 'count', records: 2 }])
  t.regex(stays[0], /^runs: 1 record .*, more than max_count, stay: It is younger than min_age\.$/u)
  const found = await Promise.all(ids.map((id) => daemon.request('GET', `/v1/runs/${id}`)))
  t.deepEqual(
    found.map(({ status }) => status),
    [404, 404, 200, 200],
  )
})

test('retention-6: without a configuration no run falls, however old it is', async (t) => {
  const daemon = await stand(t, {})
  await openSession(daemon)
  const [id] = await daysOfRuns(daemon, 'one', 'two')
  daemon.clock.leap(5000 * day)
  t.deepEqual((await retain(daemon, false)).parts, [])
  t.is((await daemon.request('GET', `/v1/runs/${id}`)).status, 200)
})

const withKey = ({ request }: TestDaemon, content: string) =>
  request('POST', '/v1/sessions/s1/runs', { content, idempotency_key: 'k1' })

test('retention-6: a key names its run for 90 days, also where that fell, and then it is new', async (t) => {
  const daemon = await stand(t, weekOfRuns)
  await openSession(daemon)
  const { run_id } = (await withKey(daemon, 'one')).body
  await until(daemon, run_id, 'completed')
  await retain(daemon, true)
  daemon.clock.leap(30 * day)
  await retain(daemon, false)
  t.deepEqual(codeOf(await withKey(daemon, 'one')), [404, 'run_expired'])
  t.deepEqual(codeOf(await withKey(daemon, 'other')), [409, 'idempotency_conflict'])
  daemon.clock.leap(61 * day)
  t.like((await retain(daemon, false)).parts, [{ kind: 'receipts', records: 1 }])
  const again = await withKey(daemon, 'one')
  t.is(again.status, 202)
  t.not(again.body.run_id, run_id)
  await until(daemon, again.body.run_id, 'completed')
})
