import { setMaxListeners } from 'node:events'

/** Everything a plugin registered, undone in reverse order. */
export interface Scope {
  readonly signal: AbortSignal
  readonly closed: boolean
  /** Adds an undo; runs it at once if the scope is already closed. Returns a function that forgets it. */
  own(undo: () => void | Promise<void>): () => void
  /** Aborts the signal, then undoes backwards. A failing undo does not stop the others. */
  close(): Promise<void>
}

export const createScope = (onFault: (error: unknown) => void): Scope => {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  const undos = new Set<() => void | Promise<void>>()
  let closing: Promise<void> | undefined
  const run = async (undo: () => void | Promise<void>): Promise<void> => {
    try {
      await undo()
    } catch (error) {
      onFault(error)
    }
  }
  const unwind = async (): Promise<void> => {
    controller.abort()
    for (const undo of [...undos].toReversed()) await run(undo)
    undos.clear()
  }
  return {
    signal: controller.signal,
    get closed() {
      return closing !== undefined
    },
    own: (undo) => {
      const entry = (): void | Promise<void> => undo()
      if (closing === undefined) undos.add(entry)
      else void run(entry)
      return () => undos.delete(entry)
    },
    close: () => (closing ??= unwind()),
  }
}
