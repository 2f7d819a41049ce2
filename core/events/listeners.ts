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

export interface Listeners {
  on(name: string, listener: Listener, owner: string): () => void
  /** Hands an event to its listeners; the data is made only if there are any. */
  deliver<E extends Named>(event: E, data: (event: E) => object | undefined): void
}

export const createListeners = (onFault: (fault: EventFault) => void): Listeners => {
  const emitter = new TypedEmitter<Record<string, (data: object, keys: EventKeys) => void>>()
  emitter.setMaxListeners(0)
  const waiting: Delivery[] = []
  let delivering = false

  const guarded =
    (name: string, listener: Listener, owner: string) =>
    (data: object, keys: EventKeys): void => {
      const charge = (error: unknown): void => onFault({ owner, event: name, error })
      try {
        const outcome = listener(data, keys)
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
  return {
    on(name, listener, owner) {
      const call = guarded(name, listener, owner)
      emitter.on(name, call)
      return () => void emitter.off(name, call)
    },
    deliver(event, make) {
      if (emitter.listenerCount(event.name) === 0) return
      const data = make(event)
      if (data === undefined) return
      waiting.push({ event, data })
      if (!delivering) run()
    },
  }
}
