/**
 * Daemons for tests. `startTestDaemon` runs one in this process, `spawnDaemon`
 * runs dist/core/main.js as a process that can be killed and costs four times
 * as much: for tests that kill, or that look at what only a process has. Every
 * answer is checked against the daemon's own OpenAPI document.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import type { ExecutionContext } from 'ava'
import { fault } from '../../core/base/assert.js'
import { createClock, type Clock } from '../../core/base/clock.js'
import type { Daemon } from '../../core/daemon.js'
import { shippedPlugins } from '../../core/shipped.js'
import type { AnyPlugin, ShippedPlugin } from '../../core/plugin.js'
import { unsafeCast, type JsonObject } from '../../core/base/schema.js'
import type { Disk } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { send, type Ask, type Headers } from '../../core/testing/send.js'
import { asShipped, rootFaults, startInProcess, type LogEntry } from '../../core/testing/test-daemon.js'
import { findBundle } from './bundle.js'
import { freshRoot } from './folders.js'
import { createCheck, type OpenapiCheck, type Seen, type Validators } from './openapi-check.js'

export { freshRoot } from './folders.js'
export type { Answer, Ask, Headers } from '../../core/testing/send.js'

export interface Reachable {
  readonly url: string
  readonly root: string
  /**
   * Sends a request; `body` becomes JSON, a text is sent as it is. Throws if the OpenAPI document does not describe the
   * answer.
   */
  readonly request: Ask
}

export interface TestDaemon extends Reachable {
  readonly daemon: Daemon
  readonly log: readonly LogEntry[]
  /** Stops as SIGTERM does. Called by the test's teardown at the latest. */
  stop(): Promise<void>
}

export interface TestDaemonOptions {
  /** Kept if it is given; otherwise a fresh folder that the teardown removes. */
  readonly root?: string
  /** Plugins beside the shipped ones. */
  readonly plugins?: readonly AnyPlugin[]
  /** Stands in for the shipped list. */
  readonly shipped?: readonly ShippedPlugin[]
  /** Configuration by plugin id. */
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Flags of serve without dashes. */
  readonly flags?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly disk?: Disk
  /** Most milliseconds that one plugin may take to start or stop. */
  readonly patienceMs?: number
  /** Sent with every request, such as `authorization`. */
  readonly headers?: Headers
}

const bundle = await findBundle()
export const mainFile = bundle.main

/** Of a daemon with the shipped plugins, as nearly all are. */
let usual: OpenapiCheck | undefined
const usualCheck = (): OpenapiCheck => {
  if (usual !== undefined) return usual
  const kept: ReadonlyMap<string, ReturnType<Validators['of']>> = createRequire(import.meta.url)(bundle.validators)
  const found = new WeakMap<object, ReturnType<Validators['of']>>()
  const of: Validators['of'] = (schema) => {
    const validate = found.get(schema) ?? kept.get(JSON.stringify(schema))
    if (validate === undefined) throw fault('no validator was kept for an answer')
    found.set(schema, validate)
    return validate
  }
  return (usual = createCheck(unsafeCast(JSON.parse(readFileSync(bundle.openapi, 'utf8'))), { of }))
}

/** Requests to one daemon; its own document is read when the usual one does not describe an answer. */
const createAsk = (url: string, always: Headers): Ask => {
  let own: Promise<OpenapiCheck> | undefined
  const readOwn = async (): Promise<OpenapiCheck> => {
    const { body } = await send(`${url}/v1/openapi.json`, { method: 'GET', body: undefined, headers: always })
    const { createOpenapiCheck } = await import('./validators.js')
    return createOpenapiCheck(unsafeCast(body))
  }
  const check = async (seen: Seen): Promise<void> => {
    if (usualCheck().find(seen) === undefined) return
    const described = await (own ??= readOwn())
    described.assert(seen)
  }
  return async (method, at, body, headers = {}) => {
    const answer = await send(new URL(at, url).href, { method, body, headers: { ...always, ...headers } })
    const { status, headers: got } = answer
    await check({ method, path: at, status, contentType: got['content-type'], body: answer.body })
    return answer
  }
}

const checkRoot = (faults: readonly string[]): void => {
  const [first] = faults
  if (first !== undefined) throw fault(first)
}

/** Tests beside it in this process may have the event loop for seconds. */
const sharedPatienceMs = 60_000

/** A daemon in this process, on a free port. */
export const startTestDaemon = async (
  t: ExecutionContext<any>,
  options: TestDaemonOptions = {},
): Promise<TestDaemon> => {
  const root = options.root ?? (await freshRoot())
  const { plugins = [], shipped = await shippedPlugins() } = options
  const { daemon, log, rootFaults } = await startInProcess({
    patienceMs: sharedPatienceMs,
    ...options,
    root,
    plugins: plugins.length === 0 ? shipped : [...shipped, ...plugins.map(asShipped)],
  })
  const stop = async (): Promise<void> => {
    await daemon.stop()
  }
  t.teardown(async () => {
    await stop()
    checkRoot(await rootFaults())
    if (options.root === undefined) await rm(root, { recursive: true, force: true })
  })
  return { url: daemon.url, root, daemon, log, request: createAsk(daemon.url, options.headers ?? {}), stop }
}

export interface SpawnOptions {
  /** Most files and connections that the process may hold open. */
  readonly openFiles?: number
  readonly root?: string
  /** The address of a daemon that was there before; a free port when absent. */
  readonly bind?: string
  /** Arguments after `serve`. */
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly headers?: Headers
}

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export interface SpawnedDaemon extends Reachable {
  readonly pid: number
  /** The line that it printed when it was ready. */
  readonly line: string
  /** Everything on standard error so far. */
  logText(): string
  /** SIGKILL, and nothing after it: for many deaths of one root, which is looked at now and then. */
  die(): Promise<Exit>
  /** Sends a signal, waits for the end of the process, and looks at the whole root. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGHUP'): Promise<Exit>
  /** SIGTERM; throws if the exit code is not 0. */
  stop(): Promise<void>
  readonly exited: Promise<Exit>
}

const children = new Set<ChildProcess>()
// Before their folders are removed.
process.prependListener('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Runs the command line; `exited` settles when the process is gone. */
export const spawnMain = (args: readonly string[], env: Readonly<Record<string, string>> = {}, limit = '') => {
  const command = [process.execPath, mainFile, ...args]
  const before = limit === '' ? '' : `ulimit ${limit}; `
  const child = spawn('/bin/sh', ['-c', `${before}exec "$@"`, 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...env },
  })
  children.add(child)
  const text = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk.toString('utf8')
  })
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk.toString('utf8')
  })
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal })
    })
  })
  return { child, text, exited }
}

const readyLine = ({ child, text, exited }: ReturnType<typeof spawnMain>): Promise<string> =>
  new Promise((resolve, reject) => {
    child.stdout.on('data', () => {
      if (text.out.includes('\n')) resolve(text.out.split('\n', 1).join(''))
    })
    void exited.then(({ code, signal }) =>
      reject(fault(`the daemon ended with ${code ?? signal} before it was ready: ${text.err}`)),
    )
  })

/** A daemon in a process of its own, on a free port. It is killed when the test's process ends. */
export const spawnDaemon = async (options: SpawnOptions = {}): Promise<SpawnedDaemon> => {
  const root = options.root ?? (await freshRoot())
  const started = spawnMain(
    ['serve', '--bind', options.bind ?? '127.0.0.1:0', '--state-root', root, ...(options.flags ?? [])],
    options.env,
    options.openFiles === undefined ? '' : `-n ${options.openFiles}`,
  )
  const line = await readyLine(started)
  const url = /http:\/\/\S+?(?=,)/u.exec(line)?.[0] ?? ''
  const { child, text, exited } = started
  const end = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill(signal)
    return exited
  }
  const kill = async (signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT' | 'SIGHUP'): Promise<Exit> => {
    const exit = await end(signal)
    checkRoot(await rootFaults({ root, disk: createDisk(), clock: createClock(), plugins: await shippedPlugins() }))
    return exit
  }
  const stop = async (): Promise<void> => {
    const { code, signal } = await kill('SIGTERM')
    if (code !== 0) throw fault(`the daemon ended with ${code ?? signal}: ${text.err}`)
  }
  return {
    url,
    root,
    pid: child.pid ?? 0,
    line,
    request: createAsk(url, options.headers ?? {}),
    logText: () => text.err,
    die: () => end('SIGKILL'),
    kill,
    stop,
    exited,
  }
}

/** As `spawnDaemon`; killed by the test's teardown if it still runs. */
export const spawnTestDaemon = async (t: ExecutionContext<any>, options: SpawnOptions = {}): Promise<SpawnedDaemon> => {
  const daemon = await spawnDaemon(options)
  t.teardown(() => daemon.kill('SIGKILL'))
  return daemon
}
