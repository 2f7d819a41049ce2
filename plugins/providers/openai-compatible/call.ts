/** The life of one model call: who may end it, and how long the provider may be silent. */
import type { Clock } from '../../../core/plugin.js'

export interface Call {
  /** Aborts the request and its socket. */
  readonly signal: AbortSignal
  /** Why the call was ended from our side; undefined while it lives. */
  readonly ended: () => 'aborted' | 'silent' | undefined
  /** The provider sent something. */
  alive(): void
  /** Waits for the provider, at most its idle limit at a time; rejects at once when the call is ended. */
  wait<T>(work: PromiseLike<T>): Promise<T>
  /** Waits briefly, and less when the call is ended. */
  pause(ms: number): Promise<void>
  close(): void
}

export interface CallOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly idle_timeout_ms: number
}

export const createCall = ({ clock, signal, idle_timeout_ms }: CallOptions): Call => {
  const controller = new AbortController()
  let ended: 'aborted' | 'silent' | undefined
  const end = (why: 'aborted' | 'silent') => (): void => {
    ended ??= why
    controller.abort()
  }
  const idle = createIdleTimer(clock, idle_timeout_ms, end('silent'))
  const aborted = end('aborted')
  signal.addEventListener('abort', aborted, { once: true })
  if (signal.aborted) aborted()
  const stopped = rejection(controller.signal)
  const wait = async <T>(work: PromiseLike<T>): Promise<T> => {
    idle.start()
    try {
      return await Promise.race([work, stopped])
    } finally {
      idle.stop()
    }
  }
  const close = (): void => {
    signal.removeEventListener('abort', aborted)
    controller.abort()
  }
  const pause = async (ms: number): Promise<void> => void (await clock.sleep(ms, controller.signal))
  return { signal: controller.signal, ended: () => ended, alive: idle.again, wait, pause, close }
}

/** Runs only while somebody waits, so that a slow reader is not mistaken for a silent provider. */
const createIdleTimer = (clock: Clock, ms: number, expired: () => void) => {
  let cancel: (() => void) | undefined
  const stop = (): void => {
    cancel?.()
    cancel = undefined
  }
  const start = (): void => {
    stop()
    cancel = clock.after(ms, expired)
  }
  const again = (): void => (cancel === undefined ? undefined : start())
  return { start, stop, again }
}

/** Rejects when the signal aborts; nobody has to listen. */
const rejection = (signal: AbortSignal): Promise<never> => {
  const stopped = new Promise<never>((_, reject) => {
    const now = (): void => reject(signal.reason)
    if (signal.aborted) now()
    else signal.addEventListener('abort', now, { once: true })
  })
  stopped.catch(() => undefined)
  return stopped
}
