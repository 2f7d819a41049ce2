/** Whether the daemon is ready, and what of it is required and not ready yet. */
import { httpErrors } from './http/errors.js'
import type { Unready } from './host/contract.js'
import type { Readiness } from './http/server/own-routes.js'

export interface ReadyState {
  now(): Readiness
  /** As `delayReady` of the host says. */
  delay(what: () => Unready | undefined): () => void
}

export const createReadyState = (isReady: () => boolean): ReadyState => {
  const delays = new Set<() => Unready | undefined>()
  return {
    now() {
      if (!isReady()) return httpErrors.daemon_starting({ retryAfter: 1 })
      for (const delay of delays) {
        const found = delay()
        if (found === undefined) continue
        const { what, why } = found
        const details = { what, why: why === undefined ? '' : `: ${why}` }
        return httpErrors.required_not_ready({ details, retryAfter: 1 })
      }
      return 'ready'
    },
    delay(what) {
      delays.add(what)
      return () => delays.delete(what)
    },
  }
}
