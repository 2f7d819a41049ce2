/** How far a command is, on standard error: one line that is written again on a terminal, else a line now and then. */
import { createClock } from '../base/clock.js'
import type { Interrupts } from '../base/interrupts.js'
import { boundHeapOfWork } from '../base/memory/heap.js'
import { createMeter, noProgress, paceText, type Pace, type Progress } from '../base/text/progress.js'
import type { CommandInput } from '../plugin/command.js'
import { interruptible } from './interrupts.js'
import { isTerminal, printError, replaceLine } from './terminal.js'

export const progressFlags = {
  progress: { kind: 'switch', summary: 'Tell every ten seconds how far it is, also where that is no terminal.' },
  quiet: { kind: 'switch', summary: 'Do not tell how far it is.' },
} as const

type Told = Pick<CommandInput, 'flags' | 'output' | 'signal'>
const barWidth = 24

const barText = (pace: Pace): string => {
  const full = Math.floor((pace.percent / 100) * barWidth)
  return `[${'='.repeat(full)}${' '.repeat(barWidth - full)}] ${paceText(pace)}`
}

/** What long work tells, and what it heeds. */
export interface Heeded {
  readonly progress: Progress
  readonly interrupts: Interrupts
}

/**
 * Does the long work of a command in little memory, and leaves nothing behind of what told how far it was. Where it is
 * interrupted, a sentence says how things stand.
 */
export const telling = async <R>(input: Told, stands: string, work: (heeded: Heeded) => Promise<R>): Promise<R> => {
  const progress = progressOf(input)
  boundHeapOfWork()
  try {
    return await interruptible(input.signal, stands, (interrupts) => work({ progress, interrupts }))
  } finally {
    progress.end()
  }
}

/** A terminal is told unless it is asked not to be, or the answer is for a program; anything else if it asks. */
const progressOf = ({ flags, output }: Omit<Told, 'signal'>): Progress => {
  const [isWanted, isQuiet] = [flags['progress'] === true, flags['quiet'] === true || output === 'json']
  const clock = createClock()
  if (isTerminal() && (isWanted || !isQuiet))
    return createMeter({
      clock,
      everyMs: 100,
      show: (pace) => replaceLine(barText(pace)),
      hide: () => replaceLine(''),
    })
  if (!isWanted) return noProgress
  return createMeter({ clock, everyMs: 10_000, show: (pace) => printError(paceText(pace)) })
}
