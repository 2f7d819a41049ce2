/** Counts refusals by address: 60 in 60 seconds, then 429 (http-28). */
import type { Clock } from '../../base/clock.js'

const limit = 60
const spanMs = 60_000
const maxSamples = 4096

export interface Throttle {
  /** Counts one refusal; true if the bucket had used up its allowance before. */
  exceeded(bucket: string): boolean
}

export const createThrottle = (clock: Clock): Throttle => {
  /** All samples in order of time, and how many each bucket has. */
  const samples: { readonly at: number; readonly bucket: string }[] = []
  const counts = new Map<string, number>()
  const forget = (): void => {
    const bucket = samples.shift()?.bucket ?? ''
    const left = (counts.get(bucket) ?? 1) - 1
    if (left === 0) counts.delete(bucket)
    else counts.set(bucket, left)
  }
  return {
    exceeded(bucket) {
      const now = clock.elapsed()
      while ((samples[0]?.at ?? now) <= now - spanMs) forget()
      if ((counts.get(bucket) ?? 0) >= limit) return true
      if (samples.length >= maxSamples) forget()
      samples.push({ at: now, bucket })
      counts.set(bucket, (counts.get(bucket) ?? 0) + 1)
      return false
    },
  }
}
