/** Tokens of which so many come a second, and as many are kept, at least one: it begins full. */
export interface Bucket {
  /** Tokens there are now, at this rate. Another rate lowers what is there, and never raises it at once. */
  level(rate: number, now: number): number
  take(): void
}

const roomAt = (rate: number): number => Math.max(1, rate)

/** Times in ms. */
export const createBucket = (rate: number, now: number): Bucket => {
  let [tokens, pace, at] = [roomAt(rate), rate, now]
  return {
    level(next, time) {
      tokens = Math.min(roomAt(pace), tokens + ((time - at) / 1000) * pace)
      at = time
      pace = next
      return (tokens = Math.min(tokens, roomAt(next)))
    },
    take: () => void (tokens -= 1),
  }
}

/** Milliseconds until one token is there. */
export const waitFor = (level: number, rate: number): number => Math.max(1, Math.ceil(((1 - level) / rate) * 1000))
