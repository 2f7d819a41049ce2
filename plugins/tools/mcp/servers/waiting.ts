/** Those who wait for something, until they are told, their time is over, or they leave. */
import type { Clock } from '../../../../core/plugin.js'

export interface Waiting {
  wait(ms: number, signal: AbortSignal): Promise<void>
  tellAll(): void
}

export const createWaiting = (clock: Pick<Clock, 'after'>): Waiting => {
  const waiting = new Set<() => void>()
  return {
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const tell = (): void => {
          waiting.delete(tell)
          cancel()
          signal.removeEventListener('abort', tell)
          resolve()
        }
        const cancel = clock.after(ms, tell)
        waiting.add(tell)
        signal.addEventListener('abort', tell, { once: true })
      }),
    tellAll() {
      for (const tell of waiting) tell()
    },
  }
}
