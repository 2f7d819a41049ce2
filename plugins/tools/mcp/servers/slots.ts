/** Turns of servers that are being connected: some at a time, and none that is slow holds up the others. */
import type { Clock } from '../../../../core/plugin.js'

export interface Turn {
  /** Before all that are not. */
  readonly isUrgent: boolean
}

/** Does the work when its turn comes. */
export type InTurn = <T>(turn: Turn, work: () => Promise<T>) => Promise<T>

/** So many have a turn at a time, and none has it for longer, though its work may go on. Milliseconds. */
const [mostAtOnce, longestTurnMs] = [8, 1_000]

export const createSlots = (clock: Pick<Clock, 'after'>): InTurn => {
  let free = mostAtOnce
  const [urgent, others]: [(() => void)[], (() => void)[]] = [[], []]
  const give = (): void => {
    const next = urgent.shift() ?? others.shift()
    if (next === undefined) free += 1
    else next()
  }
  return async ({ isUrgent }, work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => (isUrgent ? urgent : others).push(resolve))
    let isHeld = true
    const release = (): void => {
      if (isHeld) give()
      isHeld = false
    }
    const cancel = clock.after(longestTurnMs, release)
    try {
      return await work()
    } finally {
      cancel()
      release()
    }
  }
}
