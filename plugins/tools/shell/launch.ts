/** Starts a command in a process group of its own, which goes with the daemon. */
import { spawn, type ChildProcess } from 'node:child_process'
import { startOf } from './process-table.js'
import type { Group } from './process-tree.js'

export interface Launch {
  readonly command: string
  /** Absolute path. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly marker: string
  /** True to have both outputs in standard output, in the order in which they came. */
  readonly merged?: boolean
}

export interface Exit {
  readonly started: boolean
  readonly code: number | null
  readonly signal: string | null
}

export interface Launched {
  /** Undefined if there never was one. */
  readonly child: ChildProcess | undefined
  /** Undefined if nothing was started. */
  readonly group: Group | undefined
  /** The first process has ended. Never rejects. */
  readonly exited: Promise<Exit>
  /** It has ended and nobody holds its outputs. */
  readonly closed: Promise<boolean>
}

/**
 * Runs the command in bash, or sh where there is none, without startup files.
 * Beside it waits a process for the end of descriptor 3, which only the daemon
 * holds: should the daemon be killed, the whole group goes with it.
 */
const launcher = `
( exec >/dev/null 2>&1; read -r _ <&3; kill -KILL 0 ) &
exec 3<&-
[ "$2" != merged ] || exec 2>&1
if command -v bash >/dev/null 2>&1; then exec bash --norc --noprofile -c "$1"; fi
exec sh -c "$1"
`

/** The process; undefined if the system refuses to make one in a way that spawn throws. */
const spawnShell = ({ command, folder, environment, merged = false }: Launch): ChildProcess | undefined => {
  try {
    return spawn('/bin/sh', ['-c', launcher, 'sh', command, merged ? 'merged' : 'apart'], {
      cwd: folder,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
  } catch {
    return undefined
  }
}

const notStarted: Exit = { started: false, code: null, signal: null }

export const launch = (wish: Launch): Launched => {
  const child = spawnShell(wish)
  if (child === undefined)
    return { child, group: undefined, closed: Promise.resolve(true), exited: Promise.resolve(notStarted) }
  // Listeners come first: a process that could not be made says so by an event, and has no streams.
  const failed = new Promise<void>((resolve) => {
    child.on('error', () => resolve())
  })
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  const { pid } = child
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ started: true, code, signal }))
    void failed.then(() => resolve({ ...notStarted, started: pid !== undefined }))
  })
  if (pid === undefined) return { child, group: undefined, closed: failed.then(() => true), exited }
  child.stdio[3]?.on('error', () => {})
  const group: Group = { pid, started: startOf(pid), marker: wish.marker }
  return { child, group, closed: closed.then(() => true), exited }
}

/** Longest wait for output after the last process is gone, milliseconds. */
export const drainMs = 1_000

/** Lets go of everything that a process may still hold the other end of. */
export const letGo = ({ child }: Launched): void => {
  if (child?.pid !== undefined) for (const stream of child.stdio) stream?.destroy()
}
