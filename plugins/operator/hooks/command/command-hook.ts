/** Hooks that are commands: JSON on standard input, exit code and standard output are the answer. */
import {
  createCapture,
  lastLines,
  redactedTo,
  toldLine,
  visibleLine,
  withoutCutWord,
  withoutSecrets,
  within,
  type Captured,
  type Clock,
  type Supervised,
  type SupervisedProgram,
} from '../../../../core/plugin.js'
import { readingOf, shellComplaint } from './readable.js'
import { blockOf, mostTold, type Answered } from '../outcome/outcome.js'
import { saidOutcome } from '../outcome/said-outcome.js'

export interface CommandParts {
  readonly supervised: Supervised
  readonly clock: Clock
  readonly folder: string
  readonly environment: () => Record<string, string>
  readonly redact: (text: string) => string
  /** Clean-ups under way: a stop waits for them. */
  readonly track: (work: Promise<unknown>) => void
}

export interface CommandWish {
  readonly name: string
  readonly command: string
  readonly shell?: 'bash' | 'sh' | undefined
  readonly input: string
  /** Aborts when the time is over. */
  readonly signal: AbortSignal
}

const outputBytes = 64 * 1024
const tooMuch = { fault: 'it put out more than 64 KiB' }
/** Between SIGTERM and SIGKILL, milliseconds. */
const graceMs = 500
/** Longest wait for what a command has left, milliseconds: what is not gone then is ended behind the run. */
const patienceMs = 1_000

const aborted = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })

const outcomeOf = (name: string, { text, truncated }: Captured, redact: CommandParts['redact']): Answered =>
  // Whether what is cut was an outcome nobody can tell.
  truncated ? tooMuch : saidOutcome(name, text, redact)

/** Resolves when so much was put out that its end need not be waited for, a moment behind that: it may be about to. */
const flooded = ({ stdout }: SupervisedProgram, clock: Clock, over: AbortSignal): Promise<'flooded'> =>
  new Promise((resolve) => {
    let bytes = 0
    const count = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= outputBytes) return
      stdout.off('data', count)
      void clock.sleep(graceMs, over).then((slept) => slept && resolve('flooded'))
    }
    stdout.on('data', count)
  })

const blocks = 2

/** What a hook says on its standard error; of what is cut the word at the end is left out. */
export const reasonIn = ({ text, begin, truncated }: Captured): string => (truncated ? withoutCutWord(begin) : text)

/** The last lines of a standard error, safe to show; of what was left out of it no line is told that was cut. */
export const complaintIn = ({ text, begin, truncated }: Captured, redact: (text: string) => string): string => {
  const whole = truncated ? text.slice(begin.length).split('\n').slice(3).join('\n') : text
  const lines = redactedTo(whole, outputBytes, withoutSecrets(redact)).split('\n')
  return lastLines(
    lines.flatMap((line) => (line.trim() === '' ? [] : [visibleLine(line.trim())])),
    mostTold,
  )
}

const variable = 'HOLDFAST_HOOK_COMMAND'
/**
 * A command may hold secrets, and every user sees the arguments of a process; its environment only the owner sees. Its
 * first line is the first one that the shell counts, and one that begins with a dash is no option of `eval`.
 */
const fromEnvironment = `holdfast_hook=$${variable}; unset ${variable}; eval " $holdfast_hook"`

interface Run {
  readonly run: string | readonly string[]
  readonly more: Readonly<Record<string, string>>
  readonly input: string
  readonly signal: AbortSignal
}

/** Runs a program until it ends, is cut or floods, and leaves nothing of it. */
const runToEnd = async (parts: CommandParts, { run, more, input, signal }: Run) => {
  const { supervised, clock, folder, environment, track } = parts
  const program = await supervised.start({ run, folder, environment: { ...environment(), ...more }, input: true })
  const [stdout, stderr] = [createCapture(outputBytes), createCapture(outputBytes)]
  program.stdout.on('data', stdout.add)
  program.stderr.on('data', stderr.add)
  program.input?.end(input)
  const over = new AbortController()
  const exit = await Promise.race([program.exited, aborted(signal), flooded(program, clock, over.signal)])
  over.abort()
  if (exit !== 'aborted') program.kill()
  const ended = (async () => {
    if (program.isThere) await program.stop(exit === 'aborted' ? graceMs : 0)
    await program.letGo()
  })()
  track(ended)
  await within(clock, patienceMs, ended)
  return { exit, stdout: stdout.read(), stderr: stderr.read() }
}

const cutShort = { fault: 'it was cut short' }

/** Whoever cannot tell whether the shell can read the command takes its code for that of the command: it blocks. */
const blocked = async (parts: CommandParts, wish: CommandWish, stderr: Captured): Promise<Answered> => {
  const { name, command, shell, signal } = wish
  const complaint = shellComplaint(stderr)
  const block = { ruling: blockOf(name, reasonIn(stderr)) }
  if (complaint === undefined) return block
  const { exit } = await runToEnd(parts, { ...readingOf(shell), input: command, signal })
  if (exit === 'aborted') return cutShort
  if (exit === 'flooded' || exit.code === 0 || exit.code === null) return block
  const told = toldLine(complaint, mostTold, parts.redact)
  return { fault: `the shell cannot read its command: ${told}` }
}

export const runCommand = async (parts: CommandParts, wish: CommandWish): Promise<Answered> => {
  const { name, command, shell, input, signal } = wish
  const run = shell === 'sh' ? ['sh', '-c', fromEnvironment] : fromEnvironment
  const { exit, stdout, stderr } = await runToEnd(parts, { run, more: { [variable]: command }, input, signal })
  if (exit === 'aborted') return cutShort
  if (exit === 'flooded') return tooMuch
  if (!exit.started) return { fault: 'it could not be started' }
  if (exit.code === blocks) return blocked(parts, wish, stderr)
  if (exit.code !== 0) {
    const how = exit.signal === null ? `it ended with code ${exit.code}` : `${exit.signal} ended it`
    return { fault: [how, complaintIn(stderr, parts.redact)].filter((part) => part !== '').join(': ') }
  }
  return outcomeOf(name, stdout, parts.redact)
}
