/** Listeners in this process: each runs in its own scope, in the order of publication. */
import { TypedEmitter } from 'tiny-typed-emitter'
import type { EventKeys } from './contract.js'

/** A method, so that a listener of one event fits. */
export type Listener = { hear(data: object, keys: EventKeys): unknown }['hear']
/** A listener, a subscriber or an event's data threw: whose it is, the event's name, and what was thrown. */
export type EventFault = { readonly owner: string; readonly event: string; readonly error: unknown }

interface Named {
  readonly name: string
  readonly keys: EventKeys
}
interface Delivery {
  readonly event: Named
  readonly data: object
}

/** Who listens. */
export interface Listening {
  readonly hear: Listener
  /** Asked before the data is made; absent: it wants all. */
  readonly wanted: (() => boolean) | undefined
  readonly owner: string
}

export interface Listeners {
  on(name: string, listening: Listening): () => void
  /** Hands an event to its listeners; the data is made only if one wants it. */
  deliver<E extends Named>(event: E, data: (event: E) => object | undefined): void
}

export const createListeners = (onFault: (fault: EventFault) => void): Listeners => {
  const emitter = new TypedEmitter<Record<string, (data: object, keys: EventKeys) => void>>()
  emitter.setMaxListeners(0)
  const wishes = new Map<string, Set<() => boolean>>()
  const waiting: Delivery[] = []
  let delivering = false

  const wishOf =
    (event: string, { wanted = () => true, owner }: Listening) =>
    (): boolean => {
      try {
        return wanted()
      } catch (error) {
        onFault({ owner, event, error })
        return false
      }
    }
  const guarded =
    (event: string, { hear, owner }: Listening, isWanted: () => boolean) =>
    (data: object, keys: EventKeys): void => {
      const charge = (error: unknown): void => onFault({ owner, event, error })
      if (!isWanted()) return
      try {
        const outcome = hear(data, keys)
        if (outcome instanceof Promise) outcome.catch(charge)
      } catch (error) {
        charge(error)
      }
    }
  const run = (): void => {
    delivering = true
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      emitter.emit(next.event.name, next.data, next.event.keys)
    }
    delivering = false
  }
  const isWanted = (name: string): boolean => {
    for (const wish of wishes.get(name) ?? []) if (wish()) return true
    return false
  }
  return {
    on(name, listening) {
      const wish = wishOf(name, listening)
      const call = guarded(name, listening, wish)
      const all = wishes.get(name) ?? new Set()
      wishes.set(name, all.add(wish))
      emitter.on(name, call)
      return () => {
        all.delete(wish)
        emitter.off(name, call)
      }
    },
    deliver(event, make) {
      if (!isWanted(event.name)) return
      const data = make(event)
      if (data === undefined) return
      waiting.push({ event, data })
      if (!delivering) run()
    },
  }
}
