/** The first fall is told before: docs/rules/retention.md. */
import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, startTestDaemon } from '../../support/daemon.js'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { complete, day, daysOfRuns, retain, stand, statusOf, weekOfRuns, type Stand } from '../../support/retention.js'
import { codeOf, openSession } from '../../support/runs.js'

/** Lets the clock go on by so much, an hour at a time, as far as looks see it. */
const hours = async (daemon: Stand, count: number): Promise<void> => {
  for (let hour = 0; hour < count; hour += 6) {
    daemon.clock.leap(6 * 3_600_000)
    await daemon.request('POST', '/v1/retention', { dry_run: true })
  }
}
const announcedIn = async (daemon: Stand): Promise<any> =>
  (await statusOf(daemon)).health.warnings.find(({ code }: any) => code === 'retention_announced')

const untilAnnounced = async (daemon: Stand): Promise<void> => {
  for (let tries = 0; tries < 1000 && (await announcedIn(daemon)) === undefined; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
}

test('retention-8: the first fall of a kind is told a week before in status and log, then it falls by itself', async (t) => {
  const daemon = await stand(t, weekOfRuns)
  await openSession(daemon)
  const [one] = await daysOfRuns(daemon, 'one')
  await hours(daemon, 8.5 * 24)
  const warning = await announcedIn(daemon)
  t.like(warning, { severity: 'warning', related_id: 'runs' })
  t.regex(warning.message, /^From \d{4}-\d\d-\d\d on old parts of the state fall\. runs: 1 record /u)
  t.is(daemon.log.filter(({ details }) => details['code'] === 'retention_announced').length, 1)
  t.true((await statusOf(daemon)).retention.kinds.runs.falls_at_ms > daemon.clock.now())
  await hours(daemon, 5 * 24)
  t.is((await daemon.request('GET', `/v1/runs/${one}`)).status, 200)
  await hours(daemon, 3 * 24)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${one}`)), [404, 'run_expired'])
  t.is(await announcedIn(daemon), undefined)
  const two = await complete(daemon, 'two')
  await hours(daemon, 10 * 24)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${two}`)), [404, 'run_expired'])
  t.is(daemon.log.filter(({ details }) => details['code'] === 'retention_announced').length, 1)
})

test('retention-8: after a month without a look, and under another policy, it is told anew', async (t) => {
  const root = await freshRoot()
  const first = await stand(t, weekOfRuns, root)
  await openSession(first)
  const [one] = await daysOfRuns(first, 'one')
  await hours(first, 8.5 * 24)
  t.truthy(await announcedIn(first))
  first.clock.leap(30 * day)
  await hours(first, 24)
  t.truthy(await announcedIn(first))
  t.is((await first.request('GET', `/v1/runs/${one}`)).status, 200)
  t.is(first.log.filter(({ details }) => details['code'] === 'retention_announced').length, 2)
})

test('retention-8: a start under another policy tells soon what it will let fall, and lets nothing fall yet', async (t) => {
  const root = await freshRoot()
  const first = await stand(t, {}, root)
  await openSession(first)
  const [one] = await daysOfRuns(first, 'one')
  await first.stop()
  const clock = createLeapingClock()
  clock.jump(30 * day)
  const second = await startTestDaemon(t, { root, clock, config: { retention: weekOfRuns } })
  clock.leap(15_000)
  const daemon = { ...second, clock }
  await untilAnnounced(daemon)
  t.like(await announcedIn(daemon), { related_id: 'runs' })
  t.is((await second.request('GET', `/v1/runs/${one}`)).status, 200)
})

test('retention-8: what is to fall at a start is told until it falls, ten minutes later', async (t) => {
  const root = await freshRoot()
  const first = await stand(t, weekOfRuns, root)
  await openSession(first)
  const [one] = await daysOfRuns(first, 'one')
  await hours(first, 8.5 * 24)
  t.truthy(await announcedIn(first))
  await hours(first, 5 * 24)
  const { falls_at_ms } = (await statusOf(first)).retention.kinds.runs
  await first.stop()
  const clock = createLeapingClock()
  clock.jump(falls_at_ms - clock.now() + day)
  const second = await startTestDaemon(t, { root, clock, config: { retention: weekOfRuns } })
  const daemon = { ...second, clock }
  clock.leap(15_000)
  const kindNow = async () => (await statusOf(daemon)).retention.kinds.runs
  await untilAnnounced(daemon)
  t.like(await announcedIn(daemon), { related_id: 'runs' })
  t.is((await kindNow()).falls_at_ms, falls_at_ms)
  t.is((await second.request('GET', `/v1/runs/${one}`)).status, 200)
  clock.leap(10 * 60_000)
  const asked = () => second.request('GET', `/v1/runs/${one}`)
  for (let tries = 0; tries < 1000 && (await asked()).status === 200; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  t.deepEqual(codeOf(await asked()), [404, 'run_expired'])
  t.is(await announcedIn(daemon), undefined)
})

const decade = 3652 * day
for (const [what, looks] of [
  ['by hand', false],
  ['at a look', true],
] as const)
  test(`retention-8: a start under a clock that is ahead tells all anew, also where something fell ${what}`, async (t) => {
    const root = await freshRoot()
    const first = await stand(t, weekOfRuns, root)
    await openSession(first)
    await complete(first, 'one')
    await retain(first, true)
    first.clock.jump(9 * day)
    const two = await complete(first, 'two')
    t.is((await retain(first, false)).parts.length, 1)
    if (looks) await hours(first, 6)
    t.is((await statusOf(first)).retention.fallen.length, 1)
    await first.stop()
    first.clock.jump(decade)
    const second = await startTestDaemon(t, { root, clock: first.clock, config: { retention: weekOfRuns } })
    const daemon = { ...second, clock: first.clock }
    await hours(daemon, 24)
    t.is((await second.request('GET', `/v1/runs/${two}`)).status, 200)
    t.like(await announcedIn(daemon), { related_id: 'runs' })
    first.clock.jump(-decade)
    t.is(await announcedIn(daemon), undefined, 'the clock is right again')
    t.is((await statusOf(daemon)).retention.kinds.runs.falls_at_ms, undefined)
    await hours(daemon, 24)
    t.is((await second.request('GET', `/v1/runs/${two}`)).status, 200)
    t.is(await announcedIn(daemon), undefined)
    await hours(daemon, 8 * 24)
    t.like(await announcedIn(daemon), { related_id: 'runs' }, 'what was told before was told under another clock')
    t.is((await second.request('GET', `/v1/runs/${two}`)).status, 200)
  })

test('retention-8: a daemon that holds lets nothing fall by itself', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { clock, config: { retention: weekOfRuns }, flags: { hold: 'true' } })
  clock.leap(day)
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.deepEqual((await statusOf(daemon)).retention.fallen, [])
  t.false(existsSync(join(daemon.root, 'documents/retention.json')))
})

/** What the root may hold beside history, so that half of the runs have to fall. */
const roomBeside = async (daemon: Stand): Promise<number> => {
  const { storage, retention } = await statusOf(daemon)
  return 64 * 1024 ** 2 - storage.usage.root_bytes + Math.floor(retention.kinds.runs.bytes / 2)
}

/** A file of so many bytes that takes no room, in a folder of the root that people may write to. */
const fill = (root: string, bytes: number): void => {
  mkdirSync(join(root, 'skills'), { recursive: true })
  writeFileSync(join(root, 'skills/large'), '')
  truncateSync(join(root, 'skills/large'), bytes)
}

test('retention-8: what makes room for max_bytes is told a week before, and then the oldest falls', async (t) => {
  const daemon = await stand(t, { max_bytes: '64MiB' })
  await openSession(daemon)
  const [one] = await daysOfRuns(daemon, 'one', 'two')
  await hours(daemon, 2 * 24)
  t.is(await announcedIn(daemon), undefined, 'there is room')
  fill(daemon.root, await roomBeside(daemon))
  await hours(daemon, 24)
  const warning = await announcedIn(daemon)
  t.regex(warning.message, /^From \d{4}-\d\d-\d\d on old parts of the state fall\. .*to make room for max_bytes/u)
  await hours(daemon, 5 * 24)
  t.is((await daemon.request('GET', `/v1/runs/${one}`)).status, 200)
  fill(daemon.root, 1)
  await hours(daemon, 3 * 24)
  t.is((await daemon.request('GET', `/v1/runs/${one}`)).status, 200, 'there is room again')
  t.is(await announcedIn(daemon), undefined)
  fill(daemon.root, await roomBeside(daemon))
  await hours(daemon, 24)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${one}`)), [404, 'run_expired'])
  const { fallen } = (await statusOf(daemon)).retention
  t.true(fallen.some(({ kind, cause }: any) => kind === 'runs' && cause === 'bytes'))
})
