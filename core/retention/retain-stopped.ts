/** Retention of a root that no daemon holds: it is opened as a start does, under its lock, and closed again. */
import { createClock } from '../base/clock.js'
import { createIds } from '../base/ids.js'
import type { Interrupts } from '../base/interrupts.js'
import type { Progress } from '../base/text/progress.js'
import type { Log } from '../base/text/log.js'
import { policyFor, refuseSlips, type RetentionConfig } from './policy.js'
import { createRetention } from './retention.js'
import { runRetention, type Left, type RetentionRun } from './retention-route.js'
import { sayLeaving } from './words.js'
import { createDisk } from '../state/disk/real-disk.js'
import type { Declarations } from '../state/inspect/verify.js'
import { acquireLock } from '../state/root/lock.js'
import { openState } from '../state/store/root.js'

const silent: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

export interface StoppedParts {
  readonly root: string
  readonly config: RetentionConfig
  /** What the plugins declare. */
  readonly declared: Declarations
  /** False where plugins are missing here: a kind that nobody declares may be one of theirs. */
  readonly complete: boolean
  readonly dry_run: boolean
  readonly progress: Progress
  readonly interrupts: Interrupts
}

export const retainStopped = async (parts: StoppedParts): Promise<RetentionRun & Left> => {
  const { root: at, config, declared, complete, dry_run, progress, interrupts } = parts
  const { signal } = interrupts
  const [disk, clock, log] = [createDisk(), createClock(), silent]
  const ids = createIds(clock)
  const lock = await acquireLock({ root: at, clock, log, disk })
  const { root, generation, held: owned } = lock
  try {
    const opened = await openState({ root, disk, clock, ids, log, generation, owned, publish: () => {} })
    const { state } = opened
    for (const spec of declared.collections.values()) state.collection(spec)
    for (const spec of declared.streams.values()) state.stream(spec)
    try {
      const policy = policyFor(config, state.retention, complete)
      refuseSlips(config, state.retention, policy)
      signal.throwIfAborted()
      await opened.load()
      const rootId = lock.facts.root_id
      const retention = createRetention({ root, rootId, disk, clock, ids, log, state, policy, progress, signal })
      const answer = await runRetention(retention, { dry_run, policy })
      // Where nothing was done there is nothing to answer.
      if (answer.left !== undefined && answer.parts.length + answer.failed.length === 0) signal.throwIfAborted()
      const leaving = signal.aborted ? 0 : await retention.leaving()
      return leaving === 0 ? answer : { ...answer, stays: [...answer.stays, sayLeaving(leaving)] }
    } finally {
      await opened.close()
    }
  } finally {
    await lock.release()
  }
}
