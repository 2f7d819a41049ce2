/** Secret values that are replaced while the daemon runs, each guarded as long as it may still be met. */
import type { Clock } from '../clock.js'
import type { Secrets } from './secrets.js'

/** How long a value that was replaced is still redacted: calls that used it may be under way. Milliseconds. */
export const afterlifeMs = 300_000

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
  return {
    set(owner, values) {
      const before = held.get(owner)
      if (before?.values.length === values.length && values.every((value, at) => value === before.values[at])) return
      const undo = values.map(guard)
      held.set(owner, { values, letGo: () => undo.forEach((letGo) => letGo()) })
      if (before !== undefined) clock.after(afterlifeMs, before.letGo)
    },
  }
}
