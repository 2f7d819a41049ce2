/** One command from its start to the end of everything it started. */
import { within, type Clock, type Processes } from '../../../core/plugin.js'
import { createCapture, type Captured } from './capture.js'
import { drainMs, launch, type Exit, type Launch } from './launch.js'
import { belongsTo, signalGroup, stopProcesses } from './process-tree.js'

export interface CommandRun extends Launch {
  readonly processes: Processes
  readonly output_bytes: number
  readonly grace_ms: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface CommandEnd {
  readonly started: boolean
  readonly lost: boolean
  readonly code: number | null
  readonly signal: string | null
  readonly stopped: boolean
  readonly remaining: readonly number[]
  readonly stdout: Captured
  readonly stderr: Captured
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

const notEnded: Exit = { started: true, lost: false, code: null, signal: null }

export const runCommand = async (run: CommandRun): Promise<CommandEnd> => {
  const { clock, grace_ms, signal } = run
  const { program, group, exited } = await launch(run.processes, run)
  const [stdout, stderr] = [createCapture(run.output_bytes), createCapture(run.output_bytes)]
  program.stdout.on('data', stdout.add)
  program.stderr.on('data', stderr.add)
  const stopAll = async (grace: number): Promise<readonly number[]> =>
    group === undefined
      ? []
      : (await stopProcesses({ clock, grace_ms: grace, of: (rows) => belongsTo(group, rows) })).remaining
  const { done, forget } = onAbort(signal, () => stopAll(grace_ms))
  const exit = await Promise.race([exited, done.then((remaining) => (remaining.length > 0 ? notEnded : exited))])
  forget()
  const stopped = signal.aborted
  // Unless stopped, the waiting process still keeps the group's number from being given to anyone else.
  if (stopped) await done
  else if (group !== undefined) signalGroup(group, 'SIGKILL')
  const remaining = await stopAll(0)
  await within(clock, drainMs, program.closed)
  program.letGo()
  return { ...exit, stopped, remaining, stdout: stdout.read(), stderr: stderr.read() }
}
