/** Broken state roots, and what the real process says to them. */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import { explain } from '../../core/cli/told/explain.js'
import { shippedPlugins } from '../../core/shipped.js'
import { startInProcess } from '../../core/testing/test-daemon.js'
import { mainFile, spawnDaemon } from '../support/daemon.js'
import { createSender, each, type Sender } from './client.js'

export const clock = createClock()
export const folder = (t: ExecutionContext): string => {
  const made = mkdtempSync(path.join(tmpdir(), 'holdfast-'))
  t.teardown(() => rmSync(made, { recursive: true, force: true }))
  return made
}

export interface Served {
  /** Where it listens; undefined if it ended instead. */
  readonly url: string | undefined
  readonly code: number | null
  readonly err: () => string
  readonly end: () => Promise<void>
}
/** `holdfast serve` on a root until it is ready or gone. */
export const serve = async (root: string, { uid }: { uid?: number } = {}): Promise<Served> => {
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
  const killed = clock.sleep(300_000).then(() => {
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

/** The same in this process, which costs a fifth: what it would have said of its end comes from the command line. */
export const serveHere = async (root: string): Promise<Served> => {
  try {
    const { daemon } = await startInProcess({ root, plugins: await shippedPlugins(), patienceMs: 60_000 })
    const end = async (): Promise<void> => void (await daemon.stop())
    return { url: daemon.url, code: null, err: () => '', end }
  } catch (error) {
    const { text, code } = explain(error)
    return { url: undefined, code, err: () => `${text}\n`, end: () => Promise.resolve() }
  }
}

/** One sentence with its code, what to do about it, and nothing else. */
export const isRefusal = (t: ExecutionContext, { url, code, err }: Served, expected: string): void => {
  t.is(url, undefined)
  t.is(code, 1, err())
  t.regex(
    err(),
    new RegExp(
      `^holdfast: [^\\n]+ \\(${expected}\\)\\n[A-Z][^\\n]+(?:\\.|: (?:chmod 700|holdfast state repair) [^\\n]+)\\n$`,
      'u',
    ),
  )
}

export interface Golden {
  readonly root: string
  readonly runs: readonly any[]
  readonly events: ReadonlyMap<string, unknown>
}

const runsOf = async ({ send }: Sender): Promise<any[]> => (await send({ method: 'GET', path: '/v1/runs' })).body

/** A root with one of every file kind: the lives ended in order, but the last, which was killed. */
export const makeGolden = async (root: string, lives = 3): Promise<Golden> => {
  const submit = async (sender: Sender, session_id: string, content: string): Promise<void> => {
    await sender.send({ method: 'POST', path: '/v1/sessions', body: JSON.stringify({ session_id }) })
    await sender.send({ method: 'POST', path: `/v1/sessions/${session_id}/input`, body: JSON.stringify({ content }) })
  }
  for (let life = 1; life <= lives; life += 1) {
    const daemon = await spawnDaemon({ root })
    const sender = createSender(daemon.url)
    for (let n = 0; n < 4; n += 1)
      await submit(sender, `session-${life}-${n}`, n === 3 ? '/tool bash {"command":"true"}' : `hello ${life} ${n}`)
    if (life === lives) {
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
export const verdictOf = async (
  t: ExecutionContext,
  served: Served,
  { runs, events }: Golden,
  name: string,
): Promise<string> => {
  if (served.url === undefined) {
    t.is(served.code, 1, `${name}: ${served.err()}`)
    // What the log said comes first.
    t.regex(
      served.err(),
      /^(?:\{[^\n]+\}\n)*holdfast: [^\n]+ \([a-z_]+\)\n[^\n]+(?:\.|: holdfast state repair [^\n]+)\n$/u,
      name,
    )
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

/** Does every harm to a file of each kind, and looks what a daemon makes of it. */
export const harmFiles = async (t: ExecutionContext): Promise<void> => {
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
}
