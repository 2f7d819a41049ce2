/** Ctrl-Z and `fg`: the shell has the terminal while the process is stopped. */
import { createClock } from '../../base/clock.js'

export interface Stops {
  /** Stops all that the shell runs here, as Ctrl-Z does where a terminal reads it itself. */
  stop(): void
  close(): void
}

export interface StopActs {
  /** Gives the terminal back. */
  readonly leave: () => void
  /** Takes it again; may be called twice. */
  readonly comeBack: () => void
}

/** Where no shell would let it go on, the system stops nothing: milliseconds until that is clear. */
const unstoppedMs = 100

/** Process id 0 is every process of the group, such as a script that waits for this one. */
const wholeGroup = 0

export const createStops = ({ leave, comeBack }: StopActs): Stops => {
  let isAway = false
  const stopped = (whom: number): void => {
    if (isAway) return
    isAway = true
    leave()
    process.off('SIGTSTP', alone)
    process.kill(whom, 'SIGTSTP')
    void goOnUnstopped()
  }
  const alone = (): void => stopped(process.pid)
  const back = (): void => {
    if (isAway) process.on('SIGTSTP', alone)
    isAway = false
    comeBack()
  }
  const goOnUnstopped = async (): Promise<void> => {
    const { sleep } = createClock()
    await sleep(unstoppedMs)
    // A process that was stopped meanwhile hears first that it goes on.
    await sleep(unstoppedMs)
    if (isAway) back()
  }
  process.on('SIGTSTP', alone)
  // Before all others that hear of it: who draws what is typed has to know first where it stands.
  process.prependListener('SIGCONT', back)
  return {
    stop: () => stopped(wholeGroup),
    close() {
      isAway = false
      process.off('SIGTSTP', alone)
      process.off('SIGCONT', back)
    },
  }
}
