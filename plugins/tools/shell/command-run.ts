/** One command from its start to the end of everything it started. */
import { createCapture, type Captured, type Exit, type Supervised } from '../../../core/plugin.js'

export interface CommandRun {
  readonly supervised: Supervised
  /** A command, or a program and its arguments. */
  readonly run: string | readonly string[]
  /** It is bubblewrap, within which the command is. */
  readonly isWalled: boolean
  /** Absolute path. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly output_bytes: number
  readonly grace_ms: number
  readonly signal: AbortSignal
}

export interface CommandEnd extends Exit {
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

export const runCommand = async ({ supervised, run: what, ...run }: CommandRun): Promise<CommandEnd> => {
  const { folder, environment, grace_ms, signal } = run
  const program = await supervised.start({ run: what, folder, environment, holds: run.isWalled })
  const { exited } = program
  const [stdout, stderr] = [createCapture(run.output_bytes), createCapture(run.output_bytes)]
  program.stdout.on('data', stdout.add)
  program.stderr.on('data', stderr.add)
  const stopAll = async (grace: number): Promise<readonly number[]> =>
    program.isThere ? (await program.stop(grace)).remaining : []
  const { done, forget } = onAbort(signal, () => stopAll(grace_ms))
  const exit = await Promise.race([exited, done.then((remaining) => (remaining.length > 0 ? notEnded : exited))])
  forget()
  const stopped = signal.aborted
  if (stopped) await done
  else program.kill()
  const remaining = await stopAll(0)
  await program.letGo()
  return { ...exit, stopped, remaining, stdout: stdout.read(), stderr: stderr.read() }
}
