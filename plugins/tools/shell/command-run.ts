/** One command from its start to the end of everything it started. */
import { spawn } from 'node:child_process'
import type { Clock } from '../../../core/plugin.js'
import { createCapture } from './capture.js'
import type { Captured } from './capture.js'
import { startOf } from './process-table.js'
import { belongsTo, signalGroup, stopProcesses } from './process-tree.js'
import type { Group } from './process-tree.js'

export interface CommandRun {
  readonly command: string
  /** Absolute path. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly marker: string
  readonly output_bytes: number
  readonly grace_ms: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface CommandEnd {
  readonly started: boolean
  readonly code: number | null
  readonly signal: string | null
  readonly stopped: boolean
  readonly remaining: readonly number[]
  readonly stdout: Captured
  readonly stderr: Captured
}

/**
 * Runs the command in bash, or sh where there is none, without startup files.
 * Beside it waits a process for the end of descriptor 3, which only the daemon
 * holds: should the daemon be killed, the whole group goes with it.
 */
const launcher = `
( exec >/dev/null 2>&1; read -r _ <&3; kill -KILL 0 ) &
exec 3<&-
if command -v bash >/dev/null 2>&1; then exec bash --norc --noprofile -c "$1"; fi
exec sh -c "$1"
`

interface Exit { readonly started: boolean; readonly code: number | null; readonly signal: string | null }

/** Longest wait for output after the last process is gone, milliseconds. */
const drainMs = 1_000

/** The child, what it says, and its two ends: of itself and of its output. */
const start = (run: CommandRun) => {
  const child = spawn('/bin/sh', ['-c', launcher, 'sh', run.command], { cwd: run.folder, env: run.environment, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  const group: Group | undefined = child.pid === undefined ? undefined : { pid: child.pid, started: startOf(child.pid), marker: run.marker }
  const [stdout, stderr] = [createCapture(run.output_bytes), createCapture(run.output_bytes)]
  child.stdout?.on('data', stdout.add)
  child.stderr?.on('data', stderr.add)
  child.stdio[3]?.on('error', () => {})
  const closed = new Promise<boolean>((resolve) => { child.once('close', () => resolve(true)) })
  const exited = new Promise<Exit>((resolve) => {
    child.once('error', () => resolve({ started: group !== undefined, code: null, signal: null }))
    child.once('exit', (code, signal) => resolve({ started: true, code, signal }))
  })
  return { child, group, stdout, stderr, closed, exited }
}

/** Stops everything once when the signal aborts; resolves when it is done, and never without an abort. */
const onAbort = (signal: AbortSignal, stop: () => Promise<readonly number[]>) => {
  let begin = (): void => {}
  const done = new Promise<readonly number[]>((resolve) => {
    begin = () => resolve(stop())
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin, { once: true })
  })
  return { done, forget: () => signal.removeEventListener('abort', begin) }
}

const notEnded: Exit = { started: true, code: null, signal: null }

export const runCommand = async (run: CommandRun): Promise<CommandEnd> => {
  const { clock, grace_ms, signal } = run
  const { child, group, stdout, stderr, closed, exited } = start(run)
  const stopAll = async (grace: number): Promise<readonly number[]> =>
    group === undefined ? [] : (await stopProcesses({ clock, grace_ms: grace, of: (rows) => belongsTo(group, rows) })).remaining
  const { done, forget } = onAbort(signal, () => stopAll(grace_ms))
  const exit = await Promise.race([exited, done.then((remaining) => (remaining.length > 0 ? notEnded : exited))])
  forget()
  const stopped = signal.aborted
  // Unless stopped, the waiting process still keeps the group's number from being given to anyone else.
  if (stopped) await done
  else if (group !== undefined) signalGroup(group.pid, 'SIGKILL')
  const remaining = await stopAll(0)
  await Promise.race([closed, clock.sleep(drainMs, new AbortController().signal)])
  for (const stream of child.stdio) stream?.destroy()
  return { ...exit, stopped, remaining, stdout: stdout.read(), stderr: stderr.read() }
}
