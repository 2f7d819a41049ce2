/**
 * How fast the output of a command in the background is taken: one that prints for ever must not keep the disk busy.
 */
import type { Clock } from '../../../core/plugin.js'

const mebibyte = 1024 * 1024
/** Bytes that are taken as fast as they come. */
const burst = 16 * mebibyte
/** Bytes each second beyond these. */
const rate = mebibyte

export interface Pace {
  /** Resolves when more may be taken. */
  passed(bytes: number): Promise<void>
}

export const createPace = (clock: Clock): Pace => {
  let credit = burst
  let at = clock.elapsed()
  return {
    async passed(bytes) {
      const now = clock.elapsed()
      credit = Math.min(burst, credit + ((now - at) / 1000) * rate) - bytes
      at = now
      if (credit < 0) await clock.sleep((-credit / rate) * 1000)
    },
  }
}
