/** A look soon after the start, at which nothing falls yet, and then now and again until the stop. */
import type { Clock } from '../base/clock.js'
import type { Log } from '../base/text/log.js'

/** A start has other work first, and a daemon that lives for a moment leaves nothing of this behind. Milliseconds. */
export const firstLookMs = 15_000
export const secondLookMs = 10 * 60_000
export const lookEveryMs = 60 * 60_000

/** Returns the end, which waits for a look under way. */
export const lookNowAndThen = (
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  look: (which: 'first' | 'later') => Promise<void>,
): (() => Promise<void>) => {
  let running: Promise<void> = Promise.resolve()
  let cancel: () => void
  let ended = false
  const next = (ms: number, which: 'first' | 'later'): void => {
    cancel = clock.after(ms, () => {
      running = look(which)
        .catch((error: unknown) => log.warn('retention could not look', { error }))
        .then(() => {
          if (!ended) next(which === 'first' ? secondLookMs : lookEveryMs, 'later')
        })
    })
  }
  next(firstLookMs, 'first')
  return () => {
    ended = true
    cancel()
    return running
  }
}
