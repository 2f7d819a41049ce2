/** What `config/retention.toml` says while a daemon runs, and where a plugin or the folder of archives is missing. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../core/base/clock.js'
import { createIds } from '../../../core/base/ids.js'
import { findArchiveFolder } from '../../../core/retention/archive/folder.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { createCommandLine } from '../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { createLeapingClock } from '../../../core/testing/leaping-clock.js'
import { day, retain } from '../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../support/runs.js'

const write = (root: string, text: string): void => {
  mkdirSync(join(root, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(join(root, 'config/retention.toml'), text, { mode: 0o600 })
}
/** A daemon with a run that is a hundred days old, and what its file said at the start. */
const stand = async (t: ExecutionContext, text: string) => {
  const root = await freshRoot()
  mkdirSync(root, { recursive: true, mode: 0o700 })
  write(root, text)
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { root, clock })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'one')
  await until(daemon, run_id, 'completed')
  await retain(daemon, true)
  clock.leap(100 * day)
  return { root, daemon, run_id, line: createCommandLine(daemon) }
}
const isThere = async ({ request }: TestDaemon, run_id: string): Promise<boolean> =>
  (await request('GET', `/v1/runs/${run_id}`)).status === 200
const folderOf = (t: ExecutionContext): string => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-archives-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('what is let fall by hand goes by what the file says then, not by what it said at the start', async (t) => {
  const { root, daemon, run_id, line } = await stand(t, '[kinds.runs]\nmax_age = "30d"\n')
  write(root, '[kinds.runs]\nmax_age = "365d"\n')
  t.is((await line('state', 'retention', '--state-root', root)).out, 'Nothing fell.\n')
  t.true(await isThere(daemon, run_id))
  write(root, '[kinds.runs]\nmax_age = "60d"\n')
  t.regex((await line('state', 'retention', '--dry-run', '--state-root', root)).out, /^would fall: runs: 1 record/u)
  t.regex((await line('state', 'retention', '--state-root', root)).out, /^fell: runs: 1 record/u)
  t.deepEqual(codeOf(await daemon.request('GET', `/v1/runs/${run_id}`)), [404, 'run_expired'])
})

test('an id that is older than the root itself never was in it; one of its time may have fallen', async (t) => {
  const { root, daemon, run_id, line } = await stand(t, '[kinds.runs]\nmax_age = "30d"\n')
  await line('state', 'retention', '--state-root', root)
  const made = (ms: number): string => createIds({ ...createClock(), now: () => ms }).make('run')
  const { created_at_ms } = JSON.parse(readFileSync(join(root, 'root.json'), 'utf8'))
  const answers = [run_id, made(created_at_ms), made(created_at_ms - 1), made(1)].map(async (id) =>
    codeOf(await daemon.request('GET', `/v1/runs/${id}`)),
  )
  t.deepEqual(await Promise.all(answers), [
    [404, 'run_expired'],
    [404, 'run_expired'],
    [404, 'run_not_found'],
    [404, 'run_not_found'],
  ])
})

test('a file that is wrong by then is an error, and nothing falls', async (t) => {
  const { root, daemon, run_id, line } = await stand(t, '[kinds.runs]\nmax_age = "30d"\n')
  for (const [text, message] of [
    ['[kinds.runs]\nmax_age = "soon"\n', /retention\.toml:2 kinds\.runs\.max_age must be an age/u],
    ['\n[runs]\nmax_age = "30d"\n', /retention\.toml:2 runs is not a known field; did you mean kinds\.runs\?/u],
    ['[kinds.rusn]\nmax_age = "30d"\n', /retention\.toml:1 kinds\.rusn is no kind.*; did you mean kinds\.runs\?/u],
    ['[kinds', /retention\.toml is not TOML: line 1/u],
  ] as const) {
    write(root, text)
    const { code, err } = await line('state', 'retention', '--state-root', root)
    t.is(code, 2, err)
    t.regex(err, message)
    t.true(await isThere(daemon, run_id))
  }
})

test('retention-2: with --safe a start goes on with a wrong file, says so, and nothing falls', async (t) => {
  const { root, daemon, run_id, line } = await stand(t, '[kinds.runs]\nmax_age = "30d"\n')
  await daemon.stop()
  for (const [text, says] of [
    ['x = 1\n', /^config\/retention\.toml:1 x is not a known field\. Nothing falls\.$/u],
    ['\nmax_bytes = 5\n', /^config\/retention\.toml:2 max_bytes must be .*\. Nothing falls\.$/u],
    ['[kinds.rusn]\nmax_age = "30d"\n', /^config\/retention\.toml:1 kinds\.rusn is no kind.* Nothing falls\.$/u],
    ['[kinds', /^config\/retention\.toml is not TOML: line 1.*\. Nothing falls\.$/u],
  ] as const) {
    write(root, text)
    await t.throwsAsync(startTestDaemon(t, { root }), { code: 'config_invalid' })
    const clock = createLeapingClock()
    clock.jump(1000 * day)
    const safe = await startTestDaemon(t, { root, clock, flags: { safe: 'true' } })
    const told = (await safe.request('GET', '/v1/status')).body.health.warnings.find(
      ({ code }: any) => code === 'retention_config_invalid',
    )
    t.is(told?.severity, 'error')
    t.regex(told?.message, says)
    t.is((await line('state', 'retention', '--state-root', root, '--base-url', safe.url)).code, 2)
    clock.leap(10 * day)
    t.true(await isThere(safe, run_id))
    t.deepEqual((await safe.request('GET', '/v1/status')).body.retention.fallen, [])
    await safe.stop()
  }
})

const notes = '[kinds.notes]\nmax_age = "30d"\n\n[kinds.runs]\nmax_age = "30d"\n'
const missing = /names kinds\.notes, which no plugin that is loaded declares: nothing of it falls/u

test('retention-2: a kind of a plugin that is left out is a warning with --safe and on a stopped root', async (t) => {
  const { root, daemon, line } = await stand(t, '')
  await daemon.stop()
  write(root, notes)
  await t.throwsAsync(startTestDaemon(t, { root }), { code: 'config_invalid', message: /kinds\.notes is no kind/u })
  mkdirSync(join(root, 'plugins/notes'), { recursive: true, mode: 0o700 })
  const at = join(root, 'config/plugins.toml')
  writeFileSync(at, '[notes]\nfrom = "state:notes"\n', { mode: 0o600 })
  t.regex((await line('state', 'retention', '--dry-run', '--state-root', root)).out, missing)
  write(root, '[kinds.rusn]\nmax_age = "30d"\n')
  const slip = await line('state', 'retention', '--state-root', root)
  t.deepEqual([slip.code, slip.out], [2, ''])
  t.regex(slip.err, /retention\.toml:1 kinds\.rusn is no kind that is known here; did you mean kinds\.runs\?/u)
  write(root, notes)
  for (const flags of [{ safe: 'true' }, {}]) {
    const next = await startTestDaemon(t, { root, flags })
    const { warnings } = (await next.request('GET', '/v1/status')).body.health
    t.regex(warnings.find(({ code }: any) => code === 'retention_kind_unknown').message, missing)
    t.true(next.log.some(({ details }) => details['code'] === 'retention_kind_unknown'))
    await next.stop()
  }
})

test('retention-7: an archive_dir that cannot be used is told at the start and in a dry run, and nothing falls', async (t) => {
  const [folder, root] = [folderOf(t), await freshRoot()]
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const at = join(folder, "jane's archives")
  write(root, `archive_dir = "${at}"\n[kinds.runs]\nmax_age = "30d"\n`)
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { root, clock })
  const told = /^Nothing can fall, because what falls is to be kept in archive_dir, .*archives, and it is not there\.$/u
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const { message, action } = warnings.find(({ code }: any) => code === 'archive_dir_unusable')
  t.regex(message, told)
  const [before, made] = action.split(': ')
  t.is(before, 'Take archive_dir out, or make the folder as the user of the daemon')
  writeFileSync(at, '')
  const other = (await daemon.request('GET', '/v1/status')).body.health.warnings
  t.regex(other.find(({ code }: any) => code === 'archive_dir_unusable').action, /^Make it a folder outside/u)
  rmSync(at)
  execFileSync('sh', ['-c', made])
  const gone = (await daemon.request('GET', '/v1/status')).body.health.warnings
  t.false(JSON.stringify(gone).includes('archive_dir'))
  rmSync(at, { recursive: true })
  t.true(daemon.log.some(({ details }) => details['code'] === 'archive_dir_unusable'))
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'one')
  await until(daemon, run_id, 'completed')
  await retain(daemon, true)
  clock.leap(100 * day)
  const line = createCommandLine(daemon)
  const said = await line('state', 'retention', '--dry-run', '--state-root', root)
  t.regex(said.out, /would fall: runs[^]*warning: Nothing can fall, because .* and it is not there\./u)
  t.regex((await line('state', 'retention', '--state-root', root)).err, /it is not there.*archive_not_written/u)
  t.true(await isThere(daemon, run_id))
  const real = join(folder, 'real')
  mkdirSync(real)
  symlinkSync(real, at)
  const done = await line('state', 'retention', '--state-root', root)
  t.regex(done.out, /^fell: runs: 1 record .*\n {2}kept in .*real\/[0-9a-f]{32}\/runs-/u, done.err)
  const [, archive = ''] = /kept in (.*)/u.exec(done.out) ?? []
  t.true((await line('status')).out.includes(`archive   ${archive}\n`))
  t.deepEqual(
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter(({ code }: any) => /archive/u.test(code)),
    [],
  )
})

test('which folders archives can be written to', async (t) => {
  const folder = folderOf(t)
  const [root, other] = [join(folder, 'root'), join(folder, 'other')]
  const { daemon } = await startTestDaemon(t, { root })
  await (await startTestDaemon(t, { root: other })).stop()
  const parts = { root, rootId: 'ba21', disk: createDisk() }
  const reasonOf = (name: string): string => {
    const found = findArchiveFolder(parts, join(folder, name))
    return found.ok ? found.path : found.reason
  }
  const make = (name: string, mode = 0o700): void => {
    mkdirSync(join(folder, name), { recursive: true })
    chmodSync(join(folder, name), mode)
  }
  make('good/ba21')
  make('open/ba21', 0o720)
  make('linked')
  symlinkSync(join(folder, 'good'), join(folder, 'linked/ba21'))
  writeFileSync(join(folder, 'file'), '')
  symlinkSync(join(folder, 'good'), join(folder, 'link'))
  symlinkSync(join(root, 'log'), join(folder, 'into'))
  symlinkSync(join(folder, 'nowhere'), join(folder, 'broken'))
  t.is(reasonOf('good'), join(folder, 'good'))
  t.is(reasonOf('link'), join(folder, 'good'))
  t.is(reasonOf('nothing'), 'it is not there')
  t.is(reasonOf('broken'), 'it is not there')
  t.is(reasonOf('file'), 'it is no folder')
  t.is(reasonOf('root'), 'it is inside the state root')
  t.is(reasonOf('into'), 'it is inside the state root')
  t.is(reasonOf('other'), `it is inside ${other}, which is a state root`)
  t.is(reasonOf('other/log'), `it is inside ${other}, which is a state root`)
  t.is(reasonOf('open'), `${join(folder, 'open/ba21')} can be written to by other users`)
  t.is(reasonOf('linked'), `${join(folder, 'linked/ba21')} is no folder`)
  t.true(existsSync(root))
  await daemon.stop()
})
