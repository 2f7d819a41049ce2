import { setMaxListeners } from 'node:events'
import { Transients } from '../../base/memory/transients.js'
import { isPromise } from './faults.js'

/** Everything a plugin registered, undone in reverse order, and the work that it has under way. */
export interface Scope {
  readonly signal: AbortSignal
  /** The way back has begun: undos still may change the state. */
  readonly closed: boolean
  /** The way back is over, or was cut: nothing of the plugin changes anything any more. */
  readonly ended: boolean
  /** Adds an undo; once the scope closes it is run at once, as tracked work. Returns a function that forgets it. */
  own(undo: () => void | Promise<void>): () => void
  /** Work under way, which `close` waits for. Its rejection is somebody else's. */
  track(work: Promise<unknown>): void
  /** Aborts the signal, undoes backwards, then waits for tracked work. A failing undo does not stop the others. */
  close(): Promise<void>
  /** Ends the scope now, whatever is still under way. */
  cut(): void
}

export const createScope = (onFault: (error: unknown) => void): Scope => {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const undos = new Transients<() => void | Promise<void>>()
  const works = new Transients<Promise<unknown>>()
  let closing: Promise<void> | undefined
  let closed = false
  let ended = false
  /** Most undos are done at once: nobody waits for those. */
  const run = (undo: () => void | Promise<void>): Promise<void> | undefined => {
    try {
      const outcome = undo()
      return isPromise(outcome) ? Promise.resolve(outcome).catch(onFault) : undefined
    } catch (error) {
      onFault(error)
      return undefined
    }
  }
  const track = (work: Promise<unknown>): void => {
    const forget = works.add(work)
    work.then(forget, forget)
  }
  const unwind = async (): Promise<void> => {
    closed = true
    controller.abort()
    for (const undo of undos.values().toReversed()) {
      const work = run(undo)
      if (work !== undefined) await work
    }
    undos.clear()
    while (works.size > 0) await Promise.allSettled(works.values())
    ended = true
  }
  return {
    signal: controller.signal,
    get closed() {
      return closed
    },
    get ended() {
      return ended
    },
    own: (undo) => {
      if (!closed) return undos.add(undo)
      track(Promise.resolve(run(undo)))
      return () => {}
    },
    track,
    close: () => (closing ??= unwind()),
    cut: () => {
      ended = true
    },
  }
}
