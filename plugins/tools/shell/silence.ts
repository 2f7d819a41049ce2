/**
 * Notices a command that has become silent in the middle of a line, as one does that waits for an answer (tasks-18).
 */
import type { Clock } from '../../../core/plugin.js'

export interface Silence {
  /** Something was put out. */
  heard(): void
  end(): void
}

export interface SilenceParts {
  readonly clock: Clock
  readonly after_ms: number
  /** The last bytes of the output. */
  readonly tail: () => Uint8Array
  /** Says since when it is silent, Unix ms; null when it no longer is. */
  readonly tell: (since_ms: number | null) => void
}

const newline = 10

export const watchSilence = ({ clock, after_ms, tail, tell }: SilenceParts): Silence => {
  let [at, since, told] = [clock.elapsed(), clock.now(), false]
  let cancel = (): void => {}
  const look = (): void => {
    const left = at + after_ms - clock.elapsed()
    if (left > 0) return arm(left)
    const last = tail().at(-1)
    if (last === undefined || last === newline) return arm(after_ms)
    told = true
    tell(since)
  }
  const arm = (ms: number): void => {
    cancel = clock.after(ms, look)
  }
  arm(after_ms)
  return {
    heard() {
      ;[at, since] = [clock.elapsed(), clock.now()]
      if (!told) return
      told = false
      tell(null)
      arm(after_ms)
    },
    end: () => cancel(),
  }
}
