/** Those who are told of what a plugin does, through a point of it. */
import type { Tx } from '../state/contract.js'

/**
 * The contributions to a point that are told and not asked. What one of somebody else's plugins throws is charged to it
 * and holds up nobody. A shipped plugin is a part of the daemon: what it throws is thrown.
 */
export interface Observers<T> {
  /**
   * Tells each of them in a commit. What one that throws has changed is taken back; the commit and the others go on.
   * `tell` returns what the observer returns: a promise is a fault of it, too. So is what makes the commit too large.
   * Records that somebody else's plugin is told are frozen, with all that they hold.
   */
  tell(tx: Tx, what: string, tell: (observer: T) => unknown): void
  /**
   * Waits until the work of each of them is over, at most `ms`; one that takes longer is charged, and is not waited for
   * again until it is over. False where a shipped plugin is not done.
   */
  settle(ms: number, what: string, work: (observer: T) => Promise<unknown> | undefined): Promise<boolean>
}
