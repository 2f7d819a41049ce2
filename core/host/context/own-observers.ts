/**
 * Tells the contributions to a point; what they throw, and those that hang, are charged to their plugins. Those of
 * somebody else's plugins are told frozen records.
 */
import type { Clock } from '../../base/clock.js'
import type { Point } from '../../base/token.js'
import { within } from '../../base/within.js'
import type { Observers } from '../../plugin/observers.js'
import { errors } from '../errors.js'
import type { Faults } from './faults.js'
import { toldFrozen } from '../../base/foreign/frozen.js'
import { withKey, type Owned } from './points.js'
import type { Registry } from './registry.js'
import type { Scope } from './scope.js'

export interface ObserversParts {
  readonly registry: Pick<Registry, 'owned'>
  readonly faults: Pick<Faults, 'charge' | 'isShipped'>
  readonly scope: Pick<Scope, 'signal'>
  readonly clock: Clock
}

/**
 * What is told in a commit ends with it: what goes on behind it could not be taken back. Throws where a promise was
 * returned.
 */
export const checkDone = (outcome: unknown): void => {
  if (typeof outcome !== 'object' || outcome === null || !('then' in outcome)) return
  // The fault is this one, whatever comes of the work.
  void Promise.resolve(outcome).catch(() => {})
  throw errors.observer_asynchronous()
}

export const ownObservers = <T>({ registry, faults, scope, clock }: ObserversParts, point: Point<T>): Observers<T> => {
  const owned = registry.owned(point)
  const late = new Set<T>()
  const whereOf = ({ value }: Owned<T>, what: string): string =>
    point.key === undefined ? what : withKey(`${what} by`, point, value)
  const charge = (entry: Owned<T>, what: string, error: unknown): void => {
    if (faults.isShipped(entry.owner)) throw error
    faults.charge(entry.owner, whereOf(entry, what), error)
  }
  const heard = ({ owner, value }: Owned<T>): T => (faults.isShipped(owner) ? value : toldFrozen(value))
  /** Begins the work, and gives what it comes to: it does not reject but with a refusal. */
  const begin = async (
    entry: Owned<T>,
    what: string,
    work: (observer: T) => Promise<unknown> | undefined,
  ): Promise<void> => {
    try {
      await work(heard(entry))
    } catch (error) {
      charge(entry, what, error)
    }
  }
  return {
    tell(tx, what, tell) {
      for (const entry of owned()) {
        const told = (): void => checkDone(tell(heard(entry)))
        // What a shipped plugin throws undoes the commit, of which it may fill what is left.
        if (faults.isShipped(entry.owner)) told()
        else
          try {
            tx.tryPart(told)
          } catch (error) {
            charge(entry, what, error)
          }
      }
    },
    async settle(ms, what, work) {
      const settleOne = async (entry: Owned<T>): Promise<boolean> => {
        const { owner, value } = entry
        if (late.has(value)) return !faults.isShipped(owner)
        const done = begin(entry, what, work)
        if (await within(clock, ms, done)) return true
        late.add(value)
        const forget = (): void => void late.delete(value)
        done.then(forget, forget)
        // A stop ends the wait before its time.
        if (!scope.signal.aborted) faults.charge(owner, whereOf(entry, what), errors.observer_late({ details: { ms } }))
        return !faults.isShipped(owner)
      }
      const settled = await Promise.all(owned().map(settleOne))
      return settled.every(Boolean)
    },
  }
}
