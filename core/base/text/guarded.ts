/** Secret values that are replaced while the daemon runs, each guarded as long as it may still be met. */
import type { Clock } from '../clock.js'
import type { Secrets } from './secrets.js'

/** How long a value that was replaced is still redacted: calls that used it may be under way. Milliseconds. */
export const afterlifeMs = 300_000
/** Characters of such values at most: each is known in a dozen forms. */
const mostAfterlife = 4 * 1024 * 1024

/** Values that were replaced, until their time is over or newer ones need the room. */
export interface Afterlife {
  /** `size` is how many characters the values have that `letGo` lets go. */
  add(size: number, letGo: () => void): void
}

export const createAfterlife = (clock: Pick<Clock, 'after'>): Afterlife => {
  const all = new Set<{ readonly size: number; readonly end: () => void }>()
  let sum = 0
  return {
    add(size, letGo) {
      const end = (): void => {
        cancel()
        if (all.delete(one)) sum -= size
        letGo()
      }
      const cancel = clock.after(afterlifeMs, end)
      const one = { size, end }
      all.add(one)
      sum += size
      for (const oldest of all) {
        if (sum <= mostAfterlife) return
        oldest.end()
      }
    },
  }
}

const sizeOf = (values: readonly string[]): number => values.reduce((sum, { length }) => sum + length, 0)

export interface Guarded {
  /** The values of `owner` now: they are redacted from now on, and those that it had before a while longer. */
  set(owner: string, values: readonly string[]): void
}

interface Held {
  readonly values: readonly string[]
  readonly letGo: () => void
}

export const createGuarded = (guard: Secrets['guard'], clock: Clock): Guarded => {
  const held = new Map<string, Held>()
  const afterlife = createAfterlife(clock)
  return {
    set(owner, values) {
      const before = held.get(owner)
      if (before?.values.length === values.length && values.every((value, at) => value === before.values[at])) return
      const undo = values.map(guard)
      held.set(owner, { values, letGo: () => undo.forEach((letGo) => letGo()) })
      if (before !== undefined) afterlife.add(sizeOf(before.values), before.letGo)
    },
  }
}
