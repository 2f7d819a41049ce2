/** Ends programs of servers together: each look at all processes of the machine serves all that end meanwhile. */
import { within, type Clock, type Supervised, type SupervisedProgram } from '../../../../core/plugin.js'

/** Resolves when nothing is left of a program and all that it started. */
export type EndProgram = (program: SupervisedProgram) => Promise<void>

export interface EndingParts {
  readonly clock: Clock
  readonly supervised: Pick<Supervised, 'remember' | 'stop'>
}

/** For a program to end when its input does, and between SIGTERM and SIGKILL; milliseconds. */
const [quietMs, graceMs] = [1_000, 1_000]

/** The same work for several at a time: those that come while it is done for others wait for the next time. */
const together = (work: (programs: readonly SupervisedProgram[]) => Promise<unknown>): EndProgram => {
  let waiting: SupervisedProgram[] = []
  let next: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()
  const workOnWaiting = async (): Promise<void> => {
    const programs = waiting
    waiting = []
    next = undefined
    await work(programs)
  }
  return (program) => {
    waiting.push(program)
    return (next ??= running = running.then(workOnWaiting))
  }
}

/** Asks a program to end, and then ends what is left of all that it started. */
export const createEndings = ({ clock, supervised }: EndingParts): EndProgram => {
  const remember = together((programs) => supervised.remember(programs))
  const stop = together((programs) => supervised.stop(programs, graceMs))
  return async (program) => {
    await remember(program)
    program.input?.end()
    await within(clock, quietMs, program.exited)
    await stop(program)
    await program.letGo()
  }
}
