/** How much the root holds, and how much of it stays: put together for one daemon. */
import type { Clock } from '../base/clock.js'
import type { Log } from '../base/text/log.js'
import type { State } from '../state/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { lookNowAndThen } from './looks.js'
import { openDocument } from './retention-document.js'
import { createUsage, type Usage } from './usage.js'

export interface RetentionParts {
  readonly root: string
  readonly disk: Disk
  readonly clock: Clock
  readonly log: Log
  readonly state: State
}

export interface Retention {
  readonly usage: Usage
  /** Looks now and then from now on; call when the state is loaded. Returns the end. */
  begin(): () => Promise<void>
}

export const createRetention = (parts: RetentionParts): Retention => {
  const document = openDocument(parts.state, parts.log)
  const usage = createUsage({ ...parts, document })
  return { usage, begin: () => lookNowAndThen(parts, usage.sample) }
}
