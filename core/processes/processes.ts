/**
 * The service that starts programs. On Linux a fork takes time for each page that the daemon has, and the event loop
 * stands still meanwhile: there a starter forks, which is small and stays so. Without one, and elsewhere, the daemon
 * starts programs itself.
 */
import { createClock } from '../base/clock.js'
import type { Processes } from './contract.js'
import { startDirectly } from './direct.js'
import { openStarter, type Starter, type StarterParts } from './starter.js'

export interface OwnProcesses extends Processes {
  /** Has the starter ready before the first program needs it. */
  prepare(): void
  /** Ends the starter; resolves when it is gone. */
  close(): Promise<void>
}

/** What the system does takes its own time, whatever clock the daemon goes by. */
export const createProcesses = (given: Omit<StarterParts, 'clock'>): OwnProcesses => {
  const parts = { ...given, clock: createClock() }
  let current: Promise<Starter | undefined> | undefined
  let closed = process.platform !== 'linux'
  const open = async (): Promise<Starter | undefined> => {
    const starter = await openStarter(parts).catch(() => undefined)
    const forget = (): void => {
      current = undefined
    }
    if (starter === undefined) forget()
    else void starter.gone.then(forget)
    return starter
  }
  const find = async (): Promise<Starter | undefined> => (closed ? undefined : (current ??= open()))
  return {
    start: async (wish) => (await find())?.start(wish) ?? startDirectly(wish),
    prepare: () => void find(),
    async close() {
      closed = true
      await (await current)?.close()
    },
  }
}
