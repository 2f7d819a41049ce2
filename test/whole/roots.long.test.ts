/**
 * State roots that are broken, foreign, closed or full, met by the real process: a refusal in words, a daemon that only
 * reads, or one that lost nothing.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { unsafeCast } from '../../core/base/schema.js'
import { seal, unseal } from '../../core/state/format/sealed.js'
import { mainFile, spawnDaemon, spawnTestDaemon } from '../support/daemon.js'
import { openStream } from '../support/sse.js'
import { clock, folder, harmFiles, isRefusal, makeGolden, serve, serveHere, verdictOf } from './broken-roots.js'

test.serial(
  'a file of any kind that is cut, emptied or changed in any way is refused, leaves a daemon that only reads, or is ' +
    'made again without loss',
  harmFiles,
)

test.serial('a segment of another root in place of the own one is damage, not history', async (t) => {
  const home = folder(t)
  const [one, two] = [await makeGolden(path.join(home, 'one'), 2), await makeGolden(path.join(home, 'two'), 1)]
  const segmentOf = (root: string): string =>
    path.join(root, 'log', readdirSync(path.join(root, 'log')).sort().at(-1) ?? '')
  cpSync(segmentOf(two.root), segmentOf(one.root))
  const served = await serve(one.root)
  t.teardown(served.end)
  t.is(await verdictOf(t, served, one, 'foreign segment'), 'read-only')
})

test.serial(
  'a folder of another program, a file, and a root of a newer version are refused and not touched',
  async (t) => {
    const home = folder(t)
    const thesis = path.join(home, 'thesis')
    mkdirSync(thesis, { mode: 0o700 })
    writeFileSync(path.join(thesis, 'thesis.tex'), 'years of work')
    isRefusal(t, await serve(thesis), 'state_root_foreign')
    t.deepEqual(readdirSync(thesis), ['thesis.tex'])
    isRefusal(t, await serve(path.join(thesis, 'thesis.tex')), 'state_root_not_folder')
    const newer = path.join(home, 'newer')
    const daemon = await spawnDaemon({ root: newer })
    await daemon.stop()
    const file = path.join(newer, 'root.json')
    writeFileSync(file, seal({ ...unsafeCast<object>(unseal(readFileSync(file))), incompat: ['time-travel'] }))
    const before = readFileSync(file)
    const refused = await serve(newer)
    isRefusal(t, refused, 'state_root_incompatible')
    t.regex(refused.err(), /time-travel/u)
    t.deepEqual(readFileSync(file), before)
  },
)

test.serial(
  'a root that others can enter, or with a link for a folder, is refused; a link to the whole root is not',
  async (t) => {
    const home = folder(t)
    const root = path.join(home, 'root')
    await (await spawnDaemon({ root })).stop()
    for (const mode of [0o750, 0o701, 0o777]) {
      chmodSync(root, mode)
      const refused = await (mode === 0o750 ? serve : serveHere)(root)
      isRefusal(t, refused, 'state_root_exposed')
      t.true(refused.err().includes(`chmod 700 ${root}\n`), refused.err())
    }
    chmodSync(root, 0o700)
    for (const name of ['log', 'data', 'quarantine', 'secrets']) {
      const real = path.join(home, `real-${name}`)
      renameSync(path.join(root, name), real)
      symlinkSync(real, path.join(root, name))
      isRefusal(t, await (name === 'log' ? serve : serveHere)(root), 'state_root_link')
      rmSync(path.join(root, name))
      renameSync(real, path.join(root, name))
    }
    symlinkSync(root, path.join(home, 'link'))
    const linked = await serve(path.join(home, 'link'))
    t.truthy(linked.url, linked.err())
    await linked.end()
  },
)

test.serial(
  'state-1: of two daemons on one root the second is refused in a sentence and the first works on',
  async (t) => {
    const first = await spawnTestDaemon(t, { root: path.join(folder(t), 'root') })
    const second = await serve(first.root)
    isRefusal(t, second, 'state_root_locked')
    t.regex(second.err(), new RegExp(`process ${first.pid} `, 'u'))
    t.is((await first.request('POST', '/v1/sessions', { session_id: 'still' })).status, 201)
    await first.stop()
  },
)

const isRoot = process.getuid?.() === 0
const nobody = 65534
/** Another user must be able to read the program for that. */
const nobodyCanRun = (): boolean =>
  isRoot && spawnSync(process.execPath, [mainFile, 'help'], { uid: nobody, gid: nobody, cwd: '/' }).status === 0

test.serial('a root that cannot be written is refused with the reason', async (t) => {
  if (isRoot && !nobodyCanRun())
    return void t.log('skipped: root may write anywhere and no other user can read the program')
  const uid = isRoot ? { uid: nobody } : {}
  const home = folder(t)
  chmodSync(home, 0o755)
  const root = path.join(home, 'root')
  await (await spawnDaemon({ root })).stop()
  if (isRoot)
    for (const name of ['.', ...unsafeCast<string[]>(readdirSync(root, { recursive: true }))])
      chownSync(path.join(root, name), nobody, nobody)
  chmodSync(root, 0o500)
  const refused = await serve(root, uid)
  isRefusal(t, refused, 'state_root_read_only')
  chmodSync(root, 0o700)
  const served = await serve(root, uid)
  t.truthy(served.url, served.err())
  await served.end()
  if (isRoot) isRefusal(t, await serve(root), 'state_root_not_owned')
  chmodSync(home, 0o555)
  if (!isRoot) isRefusal(t, await serve(path.join(home, 'new')), 'state_root_read_only')
  chmodSync(home, 0o755)
})

/** A file system of its own; undefined where this process may not mount. */
const mount = (t: ExecutionContext, options: string): string | undefined => {
  const at = folder(t)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'holdfast', at]).status !== 0)
    return void t.log('skipped: this process may not mount a small file system')
  t.teardown(() => spawnSync('umount', ['-l', at]))
  return at
}

test.serial('on a file system that is mounted for reading the start is refused', async (t) => {
  const at = mount(t, 'size=80m,mode=700')
  if (at === undefined) return
  await (await spawnDaemon({ root: path.join(at, 'root') })).stop()
  spawnSync('mount', ['-o', 'remount,ro', at])
  isRefusal(t, await serve(path.join(at, 'root')), 'state_root_read_only')
})

const soon = async (what: () => Promise<boolean>): Promise<boolean> => {
  for (let tries = 0; tries < 3000; tries += 1) {
    if (await what()) return true
    await clock.sleep(100)
  }
  return false
}

test.serial(
  'http-10, state-14: on a full disk what was acknowledged stays, changes are refused with what to do, ' +
    'reading and streams go on, and room brings writing back',
  async (t) => {
    const at = mount(t, 'size=80m,mode=700')
    if (at === undefined) return
    const daemon = await spawnTestDaemon(t, { root: path.join(at, 'root') })
    const acknowledged: string[] = []
    const create = async () => daemon.request('POST', '/v1/sessions', {})
    const keep = async (): Promise<boolean> => {
      const made = await create()
      if (made.status === 201) acknowledged.push(made.body.session_id)
      else t.deepEqual([made.status, made.body.code.startsWith('storage_')], [503, true], made.text)
      return made.status === 201
    }
    t.true(await keep())
    const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
    t.teardown(stream.close)
    const fill = path.join(at, 'filling')
    writeFileSync(fill, Buffer.alloc(30 * 1024 * 1024))
    t.true(await soon(async () => !(await keep())), 'below the floor changes are refused')
    const refused = await create()
    t.is(refused.body.code, 'storage_read_only')
    t.truthy(refused.body.action)
    const { storage } = (await daemon.request('GET', '/v1/status')).body
    t.is(storage.ok, false)
    t.regex(JSON.stringify(storage), /Free space/u)
    for (const session_id of acknowledged) t.is((await daemon.request('GET', `/v1/sessions/${session_id}`)).status, 200)
    spawnSync('dd', ['if=/dev/zero', `of=${path.join(at, 'rest')}`, 'bs=64k'])
    t.is((await create()).status, 503)
    t.is((await daemon.request('GET', '/v1/sessions')).body.length, acknowledged.length)
    rmSync(fill)
    rmSync(path.join(at, 'rest'))
    t.true(await soon(keep), 'writing resumes by itself')
    const { body: run } = await daemon.request('POST', `/v1/sessions/${acknowledged.at(-1)}/runs`, { content: 'after' })
    t.true(
      await soon(async () =>
        stream.frames.some(
          ({ event, data }) =>
            event === 'run_updated' && data.run.run_id === run.run_id && data.run.status === 'completed',
        ),
      ),
      'the stream that was open all the time has the new run',
    )
    await daemon.stop()
  },
)

test.serial('a first start on a full disk is refused', async (t) => {
  const at = mount(t, 'size=1m,mode=700')
  if (at === undefined) return
  spawnSync('dd', ['if=/dev/zero', `of=${path.join(at, 'rest')}`, 'bs=4k'])
  isRefusal(t, await serve(path.join(at, 'root')), 'state_root_full')
})

test.serial(
  'secrets-4: a daemon that is killed on a full disk starts there, reads, and writes when there is room',
  async (t) => {
    const at = mount(t, 'size=80m,mode=700')
    if (at === undefined) return
    const root = path.join(at, 'root')
    const first = await spawnTestDaemon(t, { root })
    t.is((await first.request('POST', '/v1/sessions', { session_id: 'kept' })).status, 201)
    const secret = { slot_id: 'kept', state: { value: 'a secret' } }
    t.is((await first.request('POST', '/v1/runtime/secrets', secret)).status, 200)
    spawnSync('dd', ['if=/dev/zero', `of=${path.join(at, 'rest')}`, 'bs=64k'])
    await first.kill('SIGKILL')
    const second = await spawnTestDaemon(t, { root })
    t.is((await second.request('GET', '/v1/sessions/kept')).status, 200)
    t.true((await second.request('GET', '/v1/runtime/secrets/kept')).body.details.readable, 'a key needs no room')
    t.notRegex((await second.request('GET', '/v1/status')).text, /secrets_key/u)
    t.true(await soon(async () => (await second.request('POST', '/v1/sessions', {})).status === 503))
    rmSync(path.join(at, 'rest'))
    t.true(
      await soon(async () => (await second.request('POST', '/v1/sessions', { session_id: 'later' })).status === 201),
    )
    await second.stop()
    const third = await spawnTestDaemon(t, { root })
    t.deepEqual(
      (await third.request('GET', '/v1/sessions')).body
        .map(({ session_id }: any) => session_id)
        .filter((id: string) => id === 'kept' || id === 'later'),
      ['kept', 'later'],
    )
    await third.stop()
  },
)
