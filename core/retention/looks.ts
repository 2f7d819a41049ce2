/** A look now and then, from some minutes after the start until the stop. */
import type { Clock } from '../base/clock.js'
import type { Log } from '../base/text/log.js'

/** A start has other work first, and a daemon that lives for a moment leaves nothing of this behind. Milliseconds. */
export const firstLookMs = 10 * 60_000
export const lookEveryMs = 60 * 60_000

/** Returns the end, which waits for a look under way. */
export const lookNowAndThen = (
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  look: () => Promise<void>,
): (() => Promise<void>) => {
  let running: Promise<void> = Promise.resolve()
  let cancel: () => void
  let ended = false
  const next = (ms: number): void => {
    cancel = clock.after(ms, () => {
      running = look()
        .catch((error: unknown) => log.warn('retention could not look', { error }))
        .then(() => {
          if (!ended) next(lookEveryMs)
        })
    })
  }
  next(firstLookMs)
  return () => {
    ended = true
    cancel()
    return running
  }
}
