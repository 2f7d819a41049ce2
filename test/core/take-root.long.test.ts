/** A daemon that loses its root under way, as a person meets it. */
import { readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { spawnMain, spawnTestDaemon } from '../support/daemon.js'

const run = async (...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> => {
  const { text, exited } = spawnMain(args)
  const { code } = await exited
  return { code, ...text }
}

/** What a start writes beside its work: it would fail by itself, before anybody has looked for the root. */
const isSettled = async (root: string): Promise<boolean> => {
  const documents = await readdir(path.join(root, 'documents'))
  const isBound = (await readFile(path.join(root, 'owner.json'), 'utf8')).includes('"bind"')
  return isBound && ['reply_targets.json', 'session_rests.json'].every((name) => documents.includes(name))
}

/** A daemon that has done something, and the lines at `warn` and `error` that it wrote to its end. */
const lose = async (t: ExecutionContext, harm: (root: string) => Promise<void>) => {
  const daemon = await spawnTestDaemon(t)
  await daemon.request('POST', '/v1/sessions', { session_id: 's' })
  await daemon.request('POST', '/v1/sessions/s/input', { content: 'hello' })
  while (!(await isSettled(daemon.root))) await setTimeout(10)
  await harm(daemon.root)
  const asked = await Promise.all(
    Array.from({ length: 8 }, (_, n) => daemon.request('POST', '/v1/sessions', { session_id: `late-${n}` })),
  )
  const { code } = await daemon.exited
  const lines = daemon
    .logText()
    .split('\n')
    .flatMap((line): { level: string; msg: string; action?: string }[] => (line === '' ? [] : [JSON.parse(line)]))
  return { root: daemon.root, code, asked, lines: lines.filter(({ level }) => level === 'warn' || level === 'error') }
}

test('a daemon whose root was moved says so in one line, and what fails behind it is charged to nobody', async (t) => {
  const { root, code, asked, lines } = await lose(t, (at) => rename(at, `${at}-moved`))
  t.is(code, 1)
  t.deepEqual(
    lines.map(({ msg }) => msg),
    [
      'lock lost: daemon.lock, or the folder that it is in, was removed, moved or replaced; ' +
        'the daemon writes nothing more and ends',
    ],
  )
  t.regex(lines[0]?.action ?? '', /holdfast state verify --state-root/u)
  t.deepEqual(new Set(asked.map(({ status }) => status)), new Set([503]))
  await rename(`${root}-moved`, root)
})

test('state-2: a daemon goes on whose root.json was written anew by an editor, and the next start takes it', async (t) => {
  const daemon = await spawnTestDaemon(t)
  const file = path.join(daemon.root, 'root.json')
  const before = await readFile(file, 'utf8')
  await writeFile(file, before.trimEnd())
  t.is((await daemon.request('POST', '/v1/sessions', { session_id: 's' })).status, 201)
  t.regex(daemon.logText(), /root\.json was written by somebody else/u)
  await daemon.stop()
  t.is(await readFile(file, 'utf8'), before)
  await (await spawnTestDaemon(t, { root: daemon.root })).stop()
})

const harms: Readonly<Record<string, readonly [harm: (file: string) => Promise<void>, code: string]>> = {
  removed: [(file) => rm(file), 'state_root_foreign'],
  emptied: [(file) => truncate(file), 'state_root_damaged'],
}
for (const [what, [harm, refusal]] of Object.entries(harms))
  test(`state-2: under a daemon whose root.json was ${what} nothing more is acknowledged, and the way out is named`, async (t) => {
    const { root, code, asked, lines } = await lose(t, (at) => harm(path.join(at, 'root.json')))
    t.is(code, 1)
    t.deepEqual(new Set(asked.map(({ status }) => status)), new Set([503]))
    t.is(lines.length, 1, JSON.stringify(lines))
    const refused = await run('serve', '--bind', '127.0.0.1:0', '--state-root', root)
    const repair = `holdfast state repair --state-root ${root}`
    t.true(refused.err.includes(`(${refusal})`) && refused.err.includes(repair), refused.err)
    t.true(lines[0]?.action?.endsWith(`${repair} --apply`), lines[0]?.action)
    const backup = await run('backup', 'create', `${root}-backup`, '--state-root', root)
    t.true(backup.err.includes(repair), backup.err)
    t.is((await run('state', 'repair', '--state-root', root, '--apply')).code, 0)
    const next = await spawnTestDaemon(t, { root })
    t.is((await next.request('GET', '/v1/sessions/s')).status, 200)
    await next.stop()
  })
