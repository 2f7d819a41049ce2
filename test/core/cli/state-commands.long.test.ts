import test, { type ExecutionContext } from 'ava'
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runLine } from '../../support/command-line.js'
import { spawnDaemon, spawnMain } from '../../support/daemon.js'

const run = async (...args: string[]) => {
  const { code, out, err } = await runLine(...args)
  return { code, out, err, json: () => JSON.parse(out) }
}
/** As an operator does: for the codes with which a process exits, and for what it says beside its answer. */
const runProcess = async (...args: string[]) => {
  const { text, exited } = spawnMain(args)
  const { code } = await exited
  return { code, ...text }
}
const scratch = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-cli-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('an operator checks, looks, backs up, restores and damages a root with the command line alone', async (t) => {
  const folder = await scratch(t)
  const root = join(folder, 'state')
  const first = await spawnDaemon({ root })
  const { body: session } = await first.request('POST', '/v1/sessions', {})
  const id = session.session_id ?? session.session?.session_id
  await first.request('POST', `/v1/sessions/${id}/runs`, { input: 'hello' })
  const live = await run('state', 'verify', '--state-root', root)
  t.is(live.code, 0, live.out)
  t.regex(live.out, /A daemon is at work on this root/u)
  const copied = await run('backup', 'create', join(folder, 'live'), '--state-root', root, '--base-url', first.url)
  t.is(copied.code, 0, copied.err)
  await first.kill('SIGKILL')

  const killed = await run('state', 'verify', '--state-root', root, '--output', 'json')
  t.is(killed.code, 0, killed.out)
  t.true(killed.json().clean)
  t.is((await run('state', 'show', 'sessions', id, '--state-root', root)).code, 0)
  t.true((await run('state', 'show', '--state-root', root)).out.includes('sessions'))
  const absent = await run('state', 'show', 'sessions', 'nothing', '--state-root', root)
  t.is(absent.code, 1)
  t.regex(absent.err, /record_absent/u)

  t.is((await run('backup', 'create', join(folder, 'stopped'), '--state-root', root)).code, 0)
  for (const name of ['live', 'stopped']) {
    const checked = await run('backup', 'verify', join(folder, name))
    t.is(checked.code, 0, checked.out)
    t.is((await run('backup', 'restore', join(folder, name), '--to', join(folder, `${name}-restored`))).code, 0)
    const again = await spawnDaemon({ root: join(folder, `${name}-restored`) })
    t.is((await again.request('GET', `/v1/sessions/${id}`)).status, 200)
    await again.stop()
  }
  t.is((await run('backup', 'restore', join(folder, 'live'), '--to', root)).code, 1)
})

test('an answer for a program is nothing but JSON, whoever asks how far the work is', async (t) => {
  const folder = await scratch(t)
  const root = join(folder, 'state')
  await (await spawnDaemon({ root })).stop()
  const to = join(folder, 'backup')
  for (const line of [
    ['state', 'verify', '--state-root', root],
    ['state', 'repair', '--state-root', root],
    ['state', 'retention', '--state-root', root],
    ['backup', 'create', to, '--state-root', root],
    ['backup', 'verify', to],
    ['backup', 'restore', to, '--to', join(folder, 'restored')],
  ]) {
    const told = await run(...line, '--progress', '--quiet', '--output', 'json')
    t.deepEqual([told.code, told.err], [0, ''], line.join(' '))
    t.notThrows(told.json)
  }
})

test('state-22: exit codes tell a clean root, one with findings, and one that cannot be read', async (t) => {
  const root = join(await scratch(t), 'state')
  t.is((await runProcess('state', 'verify', '--state-root', root)).code, 2)
  await (await spawnDaemon({ root })).stop()
  t.is((await runProcess('state', 'verify', '--state-root', root)).code, 0)
  const segment = join(root, 'log', readdirSync(join(root, 'log')).at(-1) ?? '')
  const bytes = readFileSync(segment)
  appendFileSync(segment, 'x')
  writeFileSync(join(root, 'notes.txt'), 'mine', { mode: 0o600 })
  const found = await runProcess('state', 'verify', '--state-root', root)
  t.is(found.code, 1)
  t.true(found.out.includes(`log/${segment.slice(segment.lastIndexOf('/') + 1)} at byte ${bytes.length}`), found.out)
  t.regex(found.out, /NOT CLEAN: first at \S+notes\.txt byte 0/u)
})

test(
  'state-23: a repair says first what it would do, loses nothing without the word for it, and leaves a root ' +
    'that starts',
  async (t) => {
    const root = join(await scratch(t), 'state')
    const first = await spawnDaemon({ root })
    for (let made = 0; made < 5; made += 1) await first.request('POST', '/v1/sessions', {})
    const locked = await run('state', 'repair', '--state-root', root, '--apply')
    t.is(locked.code, 1)
    t.true(locked.err.includes(`in use by process ${first.pid}`), locked.err)
    await first.stop()
    const page = join(
      root,
      'data/sessions',
      readdirSync(join(root, 'data/sessions')).find((name) => name.startsWith('page-')) ?? '',
    )
    const bytes = readFileSync(page)
    bytes[bytes.length - 30] = 0
    writeFileSync(page, bytes)
    const faulty = await runProcess('state', 'show', 'sessions', '--state-root', root, '--output', 'json')
    t.is(faulty.code, 0)
    t.is(JSON.parse(faulty.err).code, 'state_faults_met')
    t.regex(
      (await runProcess('state', 'show', 'sessions', '--state-root', root)).err,
      /^holdfast: 1 fault on the way, first at /u,
    )
    const plan = await run('state', 'repair', '--state-root', root)
    t.is(plan.code, 1)
    t.regex(plan.out, /would: salvage data\/sessions\/page-\S+ at byte \d+\n {2}because: .+\n {2}then: .+\n {2}LOSES/u)
    t.regex((await run('state', 'repair', '--state-root', root, '--apply')).err, /repair_loses/u)
    const done = await run('state', 'repair', '--state-root', root, '--apply', '--accept-loss')
    t.is(done.code, 0, done.out + done.err)
    t.is((await run('state', 'verify', '--state-root', root)).code, 0)
    t.is((await run('state', 'repair', '--state-root', root)).out, 'Nothing to repair.\n')
    t.is((await run('state', 'show', 'sessions', '--state-root', root, '--output', 'json')).json().length, 4)
    const second = await spawnDaemon({ root })
    t.is((await second.request('POST', '/v1/sessions', {})).status < 300, true)
    await second.stop()
  },
)
