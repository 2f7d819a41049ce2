/** That a root is no longer ours: found by looking, told once, and to everybody who asks. */
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/text/log.js'
import { shellWord } from '../../base/text/command-text.js'
import type { DocumentLoss } from './root-watch.js'

export type LossReason = 'guard_removed' | 'lock_taken' | DocumentLoss
/** Why the root is no longer ours; undefined if nothing speaks against it. */
export type Look = () => LossReason | undefined

export interface Loss {
  readonly lose: (reason: LossReason) => void
  /** Looks now; the reason if the root is lost. */
  readonly look: Look
  /** Adds something to look at. */
  readonly also: (look: Look) => void
  readonly onLost: (callback: (reason: LossReason) => void) => void
  readonly stop: () => void
}

const causes: Readonly<Record<LossReason, string>> = {
  guard_removed: 'daemon.lock, or the folder that it is in, was removed, moved or replaced',
  lock_taken: 'somebody else took the folder lock',
  generation_raised: 'root.json is that of another opening of the root, or of another root',
  root_json_removed: 'root.json was removed',
  root_json_damaged: 'root.json was emptied, damaged or replaced by something that is no file',
}

const findWhoTook =
  'Find who did that (a script that cleans, a restore over a live root), see owner.json for who holds the root now'

/** What is to be done before one daemon is started again. */
const actionOf = (reason: LossReason, root: string): string => {
  const at = `--state-root ${shellWord(root)}`
  const repair = `make root.json again: holdfast state repair ${at} --apply`
  if (reason === 'root_json_removed') return `Find who did that, then ${repair}`
  if (reason === 'root_json_damaged') return `Find who did that, remove what is no file, then ${repair}`
  return `${findWhoTook}, then start one daemon. To look at the root: holdfast state verify ${at}`
}

const watchEvery = 5_000

interface LossParts {
  readonly root: string
  readonly clock: Clock
  readonly log: Log
}

/** Looks every five seconds, and whenever somebody asks. */
export const createLoss = ({ root, clock, log }: LossParts, first: Look): Loss => {
  const callbacks: ((reason: LossReason) => void)[] = []
  const looks: Look[] = [first]
  let reason: LossReason | undefined
  const lose = (why: LossReason): void => {
    if (reason !== undefined) return
    reason = why
    cancel()
    log.error(`lock lost: ${causes[why]}; the daemon writes nothing more and ends`, {
      root,
      reason: why,
      action: actionOf(why, root),
    })
    for (const callback of callbacks) callback(why)
  }
  const look = (): LossReason | undefined => {
    for (const found of looks) {
      const why = reason === undefined ? found() : undefined
      if (why !== undefined) lose(why)
    }
    return reason
  }
  const watch = (): void => {
    if (look() === undefined) cancel = clock.after(watchEvery, watch)
  }
  let cancel = clock.after(watchEvery, watch)
  const onLost = (callback: (reason: LossReason) => void): void => {
    if (reason === undefined) callbacks.push(callback)
    else callback(reason)
  }
  return { lose, look, also: (more) => void looks.push(more), onLost, stop: () => cancel() }
}
