/** Small writes of the owner of a root for which nobody waits but its release. */
import type { Log } from '../../base/text/log.js'
import { isBehindLoss } from '../storage-errors.js'

export interface SideWrites {
  /** One after the other; `failed` is what the log says of one that fails. */
  add(write: () => Promise<void>, failed: string): void
  /** Resolves when no write is under way any more. */
  done(): Promise<void>
}

export const createSideWrites = (log: Log): SideWrites => {
  let last: Promise<void> = Promise.resolve()
  return {
    add(write, failed) {
      last = last.then(write).catch((error: unknown) => log[isBehindLoss(error) ? 'debug' : 'warn'](failed, { error }))
    },
    done: () => last,
  }
}
