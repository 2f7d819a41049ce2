/** Notices that somebody who was asked says nothing. */
import type { Clock } from '../../../../core/plugin.js'

/** A look at the clock for each event would cost as much as a short event does: it is looked at so often instead. */
const steps = 8

export interface Silence {
  asked(): void
  answered(): void
  end(): void
}

/**
 * Calls back once a question has been open for `ms`, at most a quarter later; and not at once then, for who watches
 * over it too can say more of it.
 */
export const createSilence = (clock: Clock, ms: number, tooLong: () => void): Silence => {
  let [asked, isOpen] = [0, false]
  let [last, quiet] = [0, 0]
  let cancel: (() => void) | undefined
  const step = (): void => {
    quiet = isOpen && asked === last ? quiet + 1 : 0
    last = asked
    if (quiet > steps) tooLong()
    else cancel = clock.after(ms / steps, step)
  }
  return {
    asked() {
      asked += 1
      isOpen = true
      cancel ??= clock.after(ms / steps, step)
    },
    answered: () => void (isOpen = false),
    end: () => cancel?.(),
  }
}
