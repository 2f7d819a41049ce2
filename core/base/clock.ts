/** Two clocks: wall time for stamps, monotonic time for waiting. Tests replace both. */
export interface Clock {
  /** Unix ms. */
  now(): number
  /** Ms since an arbitrary point; never goes back. */
  elapsed(): number
  /**
   * Calls once after `ms` (any size; longer than a day is chunked). Returns the cancel function. Does not keep the
   * process alive.
   */
  after(ms: number, callback: () => void): () => void
  /** Resolves after `ms`, or at once with false when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<boolean>
}

const longest = 86_400_000

/** `performance.now` says the same, and a start loads a module of Node's for it. */
const elapsed = (): number => {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e3 + nanoseconds / 1e6
}

/** The `sleep` of a clock with this `after`. */
export const sleepBy =
  (after: Clock['after']): Clock['sleep'] =>
  (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(false)
      const settle = (whole: boolean): void => {
        cancel()
        signal?.removeEventListener('abort', abort)
        resolve(whole)
      }
      const abort = (): void => settle(false)
      const cancel = after(ms, () => settle(true))
      signal?.addEventListener('abort', abort, { once: true })
    })

export const createClock = (): Clock => {
  const after = (ms: number, callback: () => void): (() => void) => {
    const deadline = elapsed() + ms
    let timer: NodeJS.Timeout | undefined
    const arm = (): void => {
      const left = deadline - elapsed()
      timer = setTimeout(left > longest ? arm : callback, Math.max(0, Math.min(left, longest)))
      timer.unref()
    }
    arm()
    return () => clearTimeout(timer)
  }
  return { now: () => Date.now(), elapsed, after, sleep: sleepBy(after) }
}
