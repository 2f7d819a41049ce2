/** Ends programs of servers together: each look at all processes of the machine serves all that end meanwhile. */
import type { Supervised, SupervisedProgram } from '../../../../core/plugin.js'

/** Resolves when nothing is left of a program and all that it started. */
export type EndProgram = (program: SupervisedProgram) => Promise<void>

/** Between SIGTERM and SIGKILL, milliseconds. */
const graceMs = 1_000

export const createEndings = (supervised: Pick<Supervised, 'stop'>): EndProgram => {
  let waiting: SupervisedProgram[] = []
  let next: Promise<void> | undefined
  let running: Promise<void> = Promise.resolve()
  const endWaiting = async (): Promise<void> => {
    const programs = waiting
    waiting = []
    next = undefined
    await supervised.stop(programs, graceMs)
  }
  return async (program) => {
    waiting.push(program)
    next ??= running = running.then(endWaiting)
    await next
    await program.letGo()
  }
}
