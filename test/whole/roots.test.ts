/**
 * State roots that are broken, foreign, closed or full, met by the real process: a refusal in words, a daemon that only
 * reads, or one that lost nothing.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { unsafeCast } from '../../core/base/schema.js'
import { seal, unseal } from '../../core/state/format/sealed.js'
import { mainFile, spawnDaemon, spawnTestDaemon } from '../support/daemon.js'
import { openStream } from '../support/sse.js'
import { createSender, each, type Sender } from './client.js'

const clock = createClock()
const folder = (t: ExecutionContext): string => {
  const made = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  t.teardown(() => rmSync(made, { recursive: true, force: true }))
  return made
}

interface Served {
  /** Where it listens; undefined if it ended instead. */
  readonly url: string | undefined
  readonly code: number | null
  readonly err: () => string
  readonly end: () => Promise<void>
}
/** `holdfast serve` on a root until it is ready or gone. */
const serve = async (root: string, { uid }: { uid?: number } = {}): Promise<Served> => {
  const child = spawn(
    process.execPath,
    [mainFile, 'serve', '--bind', '127.0.0.1:0', '--state-root', root, '--log-level', 'error'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir() },
      ...(uid !== undefined && { uid, gid: uid }),
    },
  )
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk.toString('utf8')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk.toString('utf8')
  })
  const gone = new Promise<number | null>((resolve) => child.once('close', resolve))
  const ready = new Promise<string>((resolve) =>
    child.stdout.on('data', () => {
      const url = /http:\/\/\S+?(?=,)/u.exec(text.out)?.[0]
      if (url !== undefined) resolve(url)
    }),
  )
  const killed = clock.sleep(20_000).then(() => {
    child.kill('SIGKILL')
    return -1
  })
  const first = await Promise.race([ready, gone, killed])
  return {
    url: typeof first === 'string' ? first : undefined,
    code: typeof first === 'string' ? null : first,
    err: () => text.err,
    end: async () => {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** One sentence with its code, what to do about it, and nothing else. */
const isRefusal = (t: ExecutionContext, { url, code, err }: Served, expected: string): void => {
  t.is(url, undefined)
  t.is(code, 1, err())
  t.regex(err(), new RegExp(`^holdfast: [^\\n]+ \\(${expected}\\)\\n[A-Z][^\\n]+\\.\\n$`, 'u'))
}

interface Golden {
  readonly root: string
  readonly runs: readonly any[]
  readonly events: ReadonlyMap<string, unknown>
}

const runsOf = async ({ send }: Sender): Promise<any[]> => (await send({ method: 'GET', path: '/v1/runs' })).body

/** A root with one of every file kind: two lives ended in order, the third was killed. */
const makeGolden = async (root: string): Promise<Golden> => {
  const submit = async (sender: Sender, session_id: string, content: string): Promise<void> => {
    await sender.send({ method: 'POST', path: '/v1/sessions', body: JSON.stringify({ session_id }) })
    await sender.send({ method: 'POST', path: `/v1/sessions/${session_id}/input`, body: JSON.stringify({ content }) })
  }
  for (let life = 1; life <= 3; life += 1) {
    const daemon = await spawnDaemon({ root })
    const sender = createSender(daemon.url)
    for (let n = 0; n < 4; n += 1)
      await submit(sender, `session-${life}-${n}`, n === 3 ? '/tool bash {"command":"true"}' : `hello ${life} ${n}`)
    if (life === 3) {
      const runs = await runsOf(sender)
      const events = new Map<string, unknown>()
      for (const { run_id } of runs)
        events.set(run_id, (await sender.send({ method: 'GET', path: `/v1/runs/${run_id}/events` })).body)
      await clock.sleep(1200)
      await daemon.kill('SIGKILL')
      sender.close()
      return { root, runs, events }
    }
    sender.close()
    await daemon.stop()
  }
  throw new Error('unreachable')
}

/** The largest file of each kind: of numbers and names of collections and streams, one stands for all. */
const kindsOf = (root: string): Map<string, string> => {
  const kinds = new Map<string, string>()
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const at = path.relative(root, path.join(entry.parentPath, entry.name))
    const kind = at
      .replaceAll(/\d+/gu, 'N')
      .replace(/^(data|streams)\/[^/]+/u, '$1/*')
      .replace(/^(documents|blobs)\/.*/u, '$1/*')
    const known = kinds.get(kind)
    if (known === undefined || statSync(path.join(root, known)).size < statSync(path.join(root, at)).size)
      kinds.set(kind, at)
  }
  return kinds
}

const harms: Readonly<Record<string, (file: string) => void>> = {
  'cut in half': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  emptied: (file) => truncateSync(file, 0),
  'changed in one bit': (file) => {
    const bytes = readFileSync(file)
    const at = Math.floor(bytes.length * 0.4)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(file, bytes)
  },
  'overwritten with zeros': (file) => writeFileSync(file, Buffer.alloc(statSync(file).size)),
}

/** What came of it, in a word; throws if anything was lost in silence. */
const verdictOf = async (
  t: ExecutionContext,
  served: Served,
  { runs, events }: Golden,
  name: string,
): Promise<string> => {
  if (served.url === undefined) {
    t.is(served.code, 1, `${name}: ${served.err()}`)
    // What the log said comes first.
    t.regex(served.err(), /^(?:\{[^\n]+\}\n)*holdfast: [^\n]+ \([a-z_]+\)\n[^\n]+\.\n$/u, name)
    return 'refused'
  }
  const sender = createSender(served.url)
  try {
    const shown = await sender.send({ method: 'GET', path: '/v1/runs' })
    const now: any[] = shown.status === 200 ? shown.body : []
    const histories = new Map<string, any>()
    for (const { run_id } of runs)
      histories.set(run_id, await sender.send({ method: 'GET', path: `/v1/runs/${run_id}/events` }))
    const { storage } = (await sender.send({ method: 'GET', path: '/v1/status' })).body
    const created = await sender.send({ method: 'POST', path: '/v1/sessions', body: '{}' })
    if (storage.ok !== true) {
      t.is(created.status, 503, name)
      t.regex(created.body.code, /^storage_(?:read_only|damaged)$/u, `${name}: ${created.text}`)
      t.truthy(created.body.action)
      // Up to the damage: a run may be shown as it was earlier, never as something else.
      for (const { run_id, session_id, request } of now)
        t.like(
          runs.find((run) => run.run_id === run_id),
          { session_id, request },
          `${name}: ${run_id}`,
        )
      return 'read-only'
    }
    t.is(created.status, 201, `${name}: ${created.text}`)
    t.deepEqual(now, runs, `${name}: writable, so everything is as it was`)
    for (const { run_id } of runs)
      t.deepEqual(histories.get(run_id)?.body, events.get(run_id), `${name}: events of ${run_id}`)
    return 'whole'
  } finally {
    sender.close()
  }
}

test.serial(
  'a file of any kind that is cut, emptied or changed is refused, leaves a daemon that only reads, or is made ' +
    'again without loss',
  async (t) => {
    t.timeout(300_000)
    const home = folder(t)
    const golden = await makeGolden(path.join(home, 'golden'))
    const kinds = kindsOf(golden.root)
    for (const part of [
      'root.json',
      'manifest.json',
      'watermark.json',
      'log/N.ndjson',
      'data/*/page-N.ndjson',
      'data/*/index-N.ndjson',
      'streams/*/page-N.ndjson',
    ])
      t.true(kinds.has(part), `${part} in ${[...kinds.keys()].join()}`)
    const cases = [...kinds].flatMap(([kind, file]) =>
      Object.entries(harms).map(([harm, apply]) => ({ name: `${kind} ${harm}`, file, apply })),
    )
    const verdicts = new Map<string, string>()
    await each(
      cases,
      async ({ name, file, apply }, index) => {
        const root = path.join(home, `copy-${index}`)
        cpSync(golden.root, root, { recursive: true })
        apply(path.join(root, file))
        const served = await serve(root)
        verdicts.set(name, await verdictOf(t, served, golden, name))
        await served.end()
        rmSync(root, { recursive: true, force: true })
      },
      2,
    )
    for (const verdict of ['refused', 'read-only', 'whole'])
      t.log(
        `${verdict}: ${[...verdicts]
          .filter(([, found]) => found === verdict)
          .map(([name]) => name)
          .join(', ')}`,
      )
    for (const harm of Object.keys(harms)) {
      t.is(verdicts.get(`root.json ${harm}`), 'refused')
      t.is(verdicts.get(`manifest.json ${harm}`), 'read-only')
    }
    for (const [name, verdict] of verdicts)
      if (name.startsWith('log/') || name.includes('page-')) t.not(verdict, 'whole', name)
  },
)

test.serial('a segment of another root in place of the own one is damage, not history', async (t) => {
  const home = folder(t)
  const [one, two] = [await makeGolden(path.join(home, 'one')), await makeGolden(path.join(home, 'two'))]
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
      const refused = await serve(root)
      isRefusal(t, refused, 'state_root_exposed')
      t.regex(refused.err(), /chmod 700/u)
    }
    chmodSync(root, 0o700)
    for (const name of ['log', 'data', 'quarantine', 'secrets']) {
      const real = path.join(home, `real-${name}`)
      if (name === 'secrets') mkdirSync(real, { mode: 0o700 })
      else renameSync(path.join(root, name), real)
      symlinkSync(real, path.join(root, name))
      isRefusal(t, await serve(root), 'state_root_link')
      rmSync(path.join(root, name))
      if (name !== 'secrets') renameSync(real, path.join(root, name))
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
  for (let tries = 0; tries < 150; tries += 1) {
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

test.serial('a daemon that is killed on a full disk starts there, reads, and writes when there is room', async (t) => {
  const at = mount(t, 'size=80m,mode=700')
  if (at === undefined) return
  const root = path.join(at, 'root')
  const first = await spawnTestDaemon(t, { root })
  t.is((await first.request('POST', '/v1/sessions', { session_id: 'kept' })).status, 201)
  spawnSync('dd', ['if=/dev/zero', `of=${path.join(at, 'rest')}`, 'bs=64k'])
  await first.kill('SIGKILL')
  const second = await spawnTestDaemon(t, { root })
  t.is((await second.request('GET', '/v1/sessions/kept')).status, 200)
  t.true(await soon(async () => (await second.request('POST', '/v1/sessions', {})).status === 503))
  rmSync(path.join(at, 'rest'))
  t.true(await soon(async () => (await second.request('POST', '/v1/sessions', { session_id: 'later' })).status === 201))
  await second.stop()
  const third = await spawnTestDaemon(t, { root })
  t.deepEqual(
    (await third.request('GET', '/v1/sessions')).body
      .map(({ session_id }: any) => session_id)
      .filter((id: string) => id === 'kept' || id === 'later'),
    ['kept', 'later'],
  )
  await third.stop()
})
