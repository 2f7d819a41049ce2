import { mkdirSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { AnyPlugin } from '../../../core/plugin.js'
import type { Disk } from '../../../core/state/disk/disk.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { startMortal } from '../../support/mortal.js'
import { recoveryFound } from '../../../core/start-findings.js'
import { codeOf, openSession } from '../../support/runs.js'
import { testPlugin } from '../../support/plugins.js'

const rootFor = async (t: ExecutionContext): Promise<string> => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  return root
}

/** A root as an orderly stop leaves it. */
const usedRoot = async (t: ExecutionContext): Promise<string> => {
  const root = await rootFor(t)
  const daemon = await startTestDaemon(t, { root })
  await openSession(daemon)
  await daemon.stop()
  return root
}

const findingsOf = async (daemon: Pick<TestDaemon, 'request'>) =>
  (await daemon.request('GET', '/v1/state/findings')).body
const codesOf = async (daemon: Pick<TestDaemon, 'request'>): Promise<string[]> =>
  (await findingsOf(daemon)).map(({ code }: { code: string }) => code)
const logged = ({ log }: TestDaemon, code: string) => log.filter(({ details }) => details['code'] === code)

test('an orderly stop leaves nothing to find', async (t) => {
  const daemon = await startTestDaemon(t, { root: await usedRoot(t) })
  t.deepEqual(await findingsOf(daemon), [])
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.findings, [])
  await daemon.stop()
})

test('runtime-11: a damaged document is one line, one finding with file and byte, kept until somebody has seen to it', async (t) => {
  const root = await usedRoot(t)
  writeFileSync(join(root, 'documents', 'settings.json'), '{"theme":"dark"}')
  const first = await startTestDaemon(t, { root })
  const [finding] = (await first.request('GET', '/v1/status')).body.findings
  t.like(finding, {
    code: 'document_quarantined',
    severity: 'warning',
    file: 'documents/settings.json',
    byte: 0,
    times: 1,
  })
  t.true(finding.action.includes('quarantine/'))
  t.is(logged(first, 'document_quarantined').length, 1)
  t.like(logged(first, 'document_quarantined')[0], {
    level: 'warn',
    details: { file: 'documents/settings.json', byte: 0 },
  })
  const { warnings } = (await first.request('GET', '/v1/status')).body.health
  t.like(
    warnings.filter(({ code }: any) => code === 'state_findings_unacknowledged'),
    [{ severity: 'warning', related_id: finding.finding_id }],
  )
  await first.stop()
  const second = await startTestDaemon(t, { root })
  t.deepEqual(await findingsOf(second), [finding])
  t.is(logged(second, 'document_quarantined').length, 0)
  const acknowledge = (finding_id: string) => second.request('POST', '/v1/state/findings/acknowledge', { finding_id })
  t.deepEqual(codeOf(await acknowledge('finding_0')), [404, 'finding_not_found'])
  t.deepEqual((await acknowledge(finding.finding_id)).body, { acknowledged: 1 })
  t.deepEqual((await acknowledge('all')).body, { acknowledged: 0 })
  await second.stop()
  const third = await startTestDaemon(t, { root })
  t.deepEqual(await findingsOf(third), [])
  await third.stop()
})

test('runtime-11: what a kill leaves is found: the stop, the torn end, a half-made file, a spool without its header', async (t) => {
  const killed = await startMortal(t, { root: await rootFor(t) })
  await openSession(killed)
  await killed.kill('SIGKILL')
  const { root } = killed
  const segment = join(root, 'log', readdirSync(join(root, 'log')).toSorted().at(-1) ?? '')
  const { length } = readFileSync(segment)
  writeFileSync(segment, '{"s":', { flag: 'a' })
  writeFileSync(join(root, 'documents', 'settings.json.123'), 'half')
  const spools = join(root, 'spools', 'tasks')
  mkdirSync(spools, { recursive: true, mode: 0o700 })
  writeFileSync(join(spools, `${'0'.repeat(32)}.spool`), '')
  const daemon = await startTestDaemon(t, { root })
  t.deepEqual(await codesOf(daemon), ['unclean_stop', 'log_tail_cut', 'spool_cut', 'leftovers_cleared'])
  const [, torn, spool] = await findingsOf(daemon)
  t.like(torn, { file: `log/${segment.slice(segment.lastIndexOf('/') + 1)}`, byte: length, severity: 'info' })
  const { health } = (await daemon.request('GET', '/v1/status')).body
  t.false(
    (health.warnings ?? []).some(({ code }: any) => code === 'state_findings_unacknowledged'),
    'what needs nobody is no warning',
  )
  t.like(spool, { file: `spools/tasks/${'0'.repeat(32)}.spool` })
  await daemon.stop()
})

test('two kills are one finding that says so', async (t) => {
  let root = await rootFor(t)
  for (let lives = 0; lives < 3; lives += 1) {
    const life = await startMortal(t, { root })
    await life.kill('SIGKILL')
    ;({ root } = life)
  }
  const daemon = await startTestDaemon(t, { root })
  const [finding] = (await findingsOf(daemon)).filter(({ code }: any) => code === 'unclean_stop')
  t.is(finding.times, 3)
  await daemon.stop()
})

test('damage is in the status with file and byte although nothing can be written, and cannot be acknowledged', async (t) => {
  const root = await usedRoot(t)
  const page = join(root, 'data', 'sessions')
  const file = readdirSync(page).find((name) => name.startsWith('page-')) ?? ''
  const sound = readFileSync(join(page, file))
  truncateSync(join(page, file), sound.length - 3)
  const daemon = await startTestDaemon(t, { root })
  const { body } = await daemon.request('GET', '/v1/status')
  t.is(body.storage.ok, false)
  t.like(body.findings, [{ code: 'storage_damaged', severity: 'error', file: `data/sessions/${file}` }])
  t.is(typeof body.findings[0].byte, 'number')
  t.is(logged(daemon, 'storage_damaged').length, 1)
  const refused = await daemon.request('POST', '/v1/state/findings/acknowledge', { finding_id: 'all' })
  t.deepEqual(codeOf(refused), [503, 'storage_read_only'])
  t.is((await findingsOf(daemon)).length, 1)
  await daemon.stop()
  writeFileSync(join(page, file), sound)
})

/** Finds one fault in its first look and mends it. */
const mender = (life: string[], broken: { left: number; expected?: number }): AnyPlugin =>
  testPlugin('mender', {
    register(ctx) {
      ctx.repair({
        id: 'mender.mend',
        check: () =>
          Array.from({ length: broken.left }, (_, at) => (at < (broken.expected ?? 0) ? { expected: true } : {})),
        isExpected: ({ expected }: { expected?: boolean }) => expected === true,
        fix: async () => {
          await ctx.state.commit(() => undefined)
          life.push('mended')
          broken.left = 0
        },
      })
      ctx.onStart(() => void life.push('started'))
    },
  })

test('a repair step that found something is told', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [mender([], { left: 2 })] })
  t.like(await findingsOf(daemon), [{ code: 'repair_step', severity: 'info' }])
  t.true((await findingsOf(daemon))[0].message.includes('mender.mend'))
  t.is(logged(daemon, 'repair_step').length, 1)
})

test('what an orderly stop leaves is fixed and logged, and asks nobody to acknowledge it', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [mender([], { left: 3, expected: 3 })] })
  t.deepEqual(await findingsOf(daemon), [])
  t.like(
    daemon.log.find(({ fact }) => fact === 'went on with what the last stop left'),
    { level: 'info', details: { plugin: 'mender', step: 'mender.mend', count: 3 } },
  )
})

test('an index that was made again because its declaration changed is no finding, one that was damaged is', (t) => {
  const report = {
    sequence: 1,
    replayed: 0,
    segments: 1,
    milliseconds: 1,
    torn: undefined,
    damage: undefined,
    unclean: false,
    swept: [],
    quarantined: [],
    spools: [],
    lost: [],
  }
  const rebuilt = ['index of runs: the declaration changed', 'index of runs: the index was missing']
  t.deepEqual(
    recoveryFound('/root', { ...report, rebuilt }).map(({ about }) => about),
    ['index of runs: the index was missing'],
  )
})

test('a start below the floor of free space repairs and starts its plugins when there is room again', async (t) => {
  const root = await usedRoot(t)
  const real = createDisk()
  let full = true
  const disk: Disk = { ...real, space: (path) => ({ ...real.space(path), ...(full && { free: 1024 }) }) }
  const life: string[] = []
  const daemon = await startTestDaemon(t, { root, disk, plugins: [mender(life, { left: 1 })] })
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions', { session_id: 's2' })), [503, 'storage_read_only'])
  t.is((await daemon.request('GET', '/v1/sessions/s1')).status, 200)
  t.deepEqual(life, [])
  full = false
  for (let looks = 0; looks < 200 && life.length < 2; looks += 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  t.deepEqual(life, ['mended', 'started'])
  t.is((await daemon.request('POST', '/v1/sessions', { session_id: 's2' })).status, 201)
  t.deepEqual(await codesOf(daemon), ['repair_step'])
  await daemon.stop()
})

test('a daemon that is stopped while it waits for room ends in order', async (t) => {
  const real = createDisk()
  const life: string[] = []
  const disk: Disk = { ...real, space: (path) => ({ ...real.space(path), free: 1024 }) }
  const daemon = await startTestDaemon(t, { root: await usedRoot(t), disk, plugins: [mender(life, { left: 1 })] })
  await daemon.stop()
  t.deepEqual(life, [])
})
