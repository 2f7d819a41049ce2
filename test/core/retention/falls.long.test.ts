/** docs/rules/retention.md, with whole daemons whose clock leaps. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../core/base/schema.js'
import type { Disk } from '../../../core/state/disk/disk.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { createCommandLine } from '../../support/command-line.js'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { complete, day, daysOfRuns, retain, stand, statusOf, weekOfRuns } from '../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../support/runs.js'

test('retention-3: runs that are older than max_age fall and are run_expired; younger ones stay', async (t) => {
  const daemon = await stand(t, weekOfRuns)
  await openSession(daemon)
  const old = await daysOfRuns(daemon, 'one', 'two')
  daemon.clock.leap(7.5 * day)
  const kept = await complete(daemon, 'three')
  await retain(daemon, false)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${old[0]}`)), [404, 'run_expired'])
  const explained = await daemon.request('GET', `/v1/explanations/${old[0]}`)
  t.deepEqual(codeOf(explained), [404, 'explained_expired'])
  t.regex(explained.body.action, /holdfast state show --archive FILE/u)
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

test('retention-3: a session of whose journal much fell executes runs as ever, also after a restart', async (t) => {
  const root = await freshRoot()
  const first = await stand(t, weekOfRuns, root)
  await openSession(first)
  await complete(first, Array.from({ length: 300 }, () => '/tool get_goal {}').join('\n---\n'))
  await retain(first, true)
  first.clock.leap(20 * day)
  await retain(first, false)
  const { first_seq } = (await first.request('GET', '/v1/sessions/s1/events')).body.session
  t.true(first_seq > 600, `more fell than is read at once: ${first_seq}`)
  await first.stop()
  const second = await startTestDaemon(t, { root, config: { retention: weekOfRuns } })
  t.truthy(await complete(second, 'go on'))
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
    const { parts, stays } = await retain(daemon, false)
    t.is(parts.length, 1)
    const reason = new RegExp(
      `stay because runs ${run_id} can still change and may have a part.*: they may fall when it cannot`,
      'u',
    )
    t.regex(stays[0], reason)
    t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${fallen}`)), [404, 'run_expired'])
    t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).body.status, status)
    t.deepEqual(await journal(), before)
    const { stays_because } = (await statusOf(daemon)).retention.kinds.runs
    t.regex(stays_because, reason)
    await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
    await until(daemon, run_id, 'cancelled', 'interrupted')
  })

test('retention-4: what stays is told with its reason also after a restart', async (t) => {
  const root = await freshRoot()
  const first = await stand(t, { kinds: { runs: { max_age: '8d' } } }, root)
  await openSession(first)
  await openSession(first, 's2')
  const { run_id } = await submit(first, 's2', ask)
  await until(first, run_id, 'waiting_for_user_question')
  await daysOfRuns(first, 'one')
  first.clock.leap(20 * day)
  t.is((await retain(first, false)).parts.length, 1)
  await first.stop()
  const second = await startTestDaemon(t, { root, config: { retention: weekOfRuns } })
  const { stays_because } = (await statusOf(second)).retention.kinds.runs
  t.regex(stays_because, new RegExp(`stay because runs ${run_id} can still change`, 'u'))
  await second.request('POST', `/v1/runs/${run_id}/cancel`)
  await until(second, run_id, 'cancelled', 'interrupted')
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

/** One fall with an archive, on a root that stays. */
const archivedFall = async (t: ExecutionContext) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const daemon = await stand(t, { ...weekOfRuns, archive_dir: folder })
  await openSession(daemon)
  const [one] = await daysOfRuns(daemon, 'one')
  daemon.clock.leap(20 * day)
  await complete(daemon, 'two')
  const { parts } = await retain(daemon, false)
  return { daemon, folder, run_id: one ?? '', archive: String(parts[0].archive) }
}

test('retention-7: what falls is in the archive, and state show reads it', async (t) => {
  const { daemon, folder, run_id, archive } = await archivedFall(t)
  t.true(archive.startsWith(`${folder}/`))
  const line = createCommandLine(daemon)
  const run = JSON.parse((await line('state', 'show', 'runs', run_id, '--archive', archive)).out)
  t.like(run, { run_id, status: 'completed', session_id: 's1' })
  const entries = JSON.parse((await line('state', 'show', 'session_journal', 's1', '--archive', archive)).out)
  t.true(entries.some((entry: any) => entry.event?.content === 'one'))
  t.regex((await line('state', 'show', '--archive', archive)).out, /^runs +1 +0$/mu)
  t.deepEqual(JSON.parse((await line('state', 'show', 'session_journal', '--archive', archive)).out), {
    s1: entries.length,
  })
  t.regex((await line('state', 'show', 'runs', 'other', '--archive', archive)).err, /record_absent/u)
  t.regex((await line('state', 'show', 'nothing', '--archive', archive)).err, /shape_absent/u)
  const { fallen } = (await statusOf(daemon)).retention
  t.is(fallen[0].archive, archive)
})

test('retention-7: where the archive cannot be written nothing falls, and the problem says why', async (t) => {
  const daemon = await stand(t, { ...weekOfRuns, archive_dir: '/nowhere/at/all' })
  await openSession(daemon)
  const [one] = await daysOfRuns(daemon, 'one')
  daemon.clock.leap(20 * day)
  const answer = await daemon.request('POST', '/v1/retention', { dry_run: false })
  t.deepEqual(codeOf(answer), [409, 'archive_not_written'])
  t.is((await daemon.request('GET', `/v1/runs/${one}`)).status, 200)
  const { health } = await statusOf(daemon)
  t.true(health.warnings.some(({ code }: any) => code === 'retention_failed'))
})

test('retention-7: of which kind nothing fell is told beside what fell, once, and with what to do', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const full = Object.assign(new Error('no room'), { code: 'ENOSPC' })
  const disk: Disk = {
    ...createDisk(),
    open: (path, how) => (path.includes('/receipts-') ? Promise.reject(full) : createDisk().open(path, how)),
  }
  const daemon = await stand(t, { ...weekOfRuns, archive_dir: folder }, undefined, disk)
  await openSession(daemon)
  const { run_id } = (await withKey(daemon, 'one')).body
  await until(daemon, run_id, 'completed')
  await retain(daemon, true)
  daemon.clock.leap(100 * day)
  const { parts, failed } = await retain(daemon, false)
  t.like(parts, [{ kind: 'runs', records: 1 }])
  t.like(failed, [{ kind: 'receipts', code: 'archive_not_written' }])
  t.regex(failed[0].words, /^Of receipts nothing fell, because its archive could not be written to .*: ENOSPC\.$/u)
  const warnings = async () =>
    (await statusOf(daemon)).health.warnings.filter(({ code }: any) => code === 'retention_failed')
  t.like(await warnings(), [{ related_id: 'receipts', message: failed[0].words }])
  t.regex((await warnings())[0].action, /Make archive_dir a folder/u)
  const again = await daemon.request('POST', '/v1/retention', { dry_run: false })
  t.deepEqual(codeOf(again), [409, 'archive_not_written'])
  const told = daemon.log.filter(({ details }) => details['code'] === 'retention_failed')
  t.is(told.length, 1)
  t.is(told[0]?.details['error'], undefined)
})

test('retention-7: where nothing fell each kind is named that was to fall', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  const full = Object.assign(new Error('no room'), { code: 'ENOSPC' })
  const disk: Disk = {
    ...createDisk(),
    open: (path, how) => (path.startsWith(folder) ? Promise.reject(full) : createDisk().open(path, how)),
  }
  const daemon = await stand(t, { ...weekOfRuns, archive_dir: folder }, undefined, disk)
  await openSession(daemon)
  await until(daemon, (await withKey(daemon, 'one')).body.run_id, 'completed')
  await retain(daemon, true)
  daemon.clock.leap(100 * day)
  const { status, body } = await daemon.request('POST', '/v1/retention', { dry_run: false })
  t.deepEqual([status, body.code], [409, 'archive_not_written'])
  t.regex(body.detail, /^Of runs nothing fell, .*: ENOSPC\. Nor did anything fall of receipts \(ENOSPC\)\.$/u)
})

test('state retention says what would fall and lets it fall, through the daemon and on a stopped root', async (t) => {
  const root = await freshRoot()
  const daemon = await stand(t, weekOfRuns, root)
  await openSession(daemon)
  await daysOfRuns(daemon, 'one', 'two', 'three')
  daemon.clock.leap(20 * day)
  await complete(daemon, 'four')
  const line = createCommandLine(daemon)
  const said = await line('state', 'retention', '--dry-run', '--state-root', root)
  t.regex(said.out, /^would fall: runs: 3 records .*\nNothing was changed: repeat without --dry-run\.\n$/u, said.err)
  const done = await line('state', 'retention', '--state-root', root)
  t.is(done.out, said.out.replace(/would fall/u, 'fell').replace(/Nothing was changed.*\n/u, ''))
  t.is((await line('state', 'retention', '--dry-run', '--state-root', root)).out, 'Nothing would fall.\n')
  await daemon.stop()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config/retention.toml'), 'min_age = "1h"\n[kinds.runs]\nmax_count = 0\n')
  t.regex((await line('state', 'retention', '--state-root', root)).err, /kinds\.runs\.max_count must be at least 1/u)
  writeFileSync(join(root, 'config/retention.toml'), '[kinds.runs]\nmax_age = "1d"\n')
  t.is((await line('state', 'retention', '--dry-run', '--state-root', root)).out, 'Nothing would fall.\n')
  t.regex((await line('state', 'retention', '--state-root', join(root, 'none'))).err, /state_root_absent/u)
})

test('retention-2: a daemon refuses to start with a wrong configuration, and names the member', async (t) => {
  const wrong: readonly (readonly [JsonObject, RegExp])[] = [
    [{ kinds: { runs: { max_age: 'soon' } } }, /retention\.toml kinds\.runs\.max_age must be an age/u],
    [
      { kinds: { debug: { max_age: '9d' } } },
      /retention\.toml kinds\.debug is not set here: .* in config\/debug\.toml/u,
    ],
    [{ kinds: { rusn: { max_age: '9d' } } }, /retention\.toml kinds\.rusn is no kind: there are .*receipts.*runs/u],
  ]
  for (const [retention, message] of wrong)
    await t.throwsAsync(startTestDaemon(t, { config: { retention } }), { code: 'config_invalid', message })
})

test('a stopped root is retained as a daemon on it would, and the next start knows what fell', async (t) => {
  const root = await freshRoot()
  const past = createLeapingClock()
  past.jump(-100 * day)
  const daemon = await startTestDaemon(t, { root, clock: past })
  await openSession(daemon)
  const id = await complete(daemon, 'long ago')
  await daemon.stop()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config/retention.toml'), '[kinds.runs]\nmax_age = "30d"\n')
  const line = createCommandLine(daemon)
  const said = await line('state', 'retention', '--dry-run', '--state-root', root)
  t.regex(said.out, /^would fall: runs: 1 record /u, said.err)
  t.is((await line('state', 'retention', '--dry-run', '--state-root', root)).out, said.out)
  const done = await line('state', 'retention', '--state-root', root)
  t.is(done.out, said.out.replace(/would fall/u, 'fell').replace(/Nothing was changed.*\n/u, ''))
  const next = await startTestDaemon(t, { root })
  t.deepEqual(codeOf(await next.request('GET', `/v1/runs/${id}`)), [404, 'run_expired'])
  t.like((await statusOf(next)).retention.fallen, [{ kind: 'runs', records: 1 }])
})
