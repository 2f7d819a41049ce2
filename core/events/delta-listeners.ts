/** Listeners in this process of texts while they are made. They are told at once, and nothing is framed for them. */
import { unsafeCast } from '../base/schema.js'
import type { DeltaSpec, Deltas, WrittenDelta } from './contract.js'
import type { EventFault } from './listeners.js'

interface DeltaListener {
  readonly hear: (piece: WrittenDelta<unknown, string>) => void
  readonly wanted: () => boolean
}

export interface DeltaListeners {
  on<S, K extends string, D extends object>(
    spec: DeltaSpec<S, K, D>,
    hear: (piece: WrittenDelta<S, K>) => void,
    listening?: { readonly wanted?: (() => boolean) | undefined },
  ): () => void
  /** The same text, of which those who listen are told. */
  told<S, K extends string, D extends object>(spec: DeltaSpec<S, K, D>, subject: S, shown: Deltas<K>): Deltas<K>
}

export const createDeltaListeners = (onFault: (fault: EventFault) => void): DeltaListeners => {
  const listeners = new Map<string, Set<DeltaListener>>()
  const tell = (name: string, piece: WrittenDelta<unknown, string>): void => {
    for (const { hear, wanted } of listeners.get(name) ?? [])
      try {
        if (wanted()) hear(piece)
      } catch (error) {
        onFault({ owner: 'core', event: name, error })
      }
  }
  return {
    on({ include }, hear, { wanted = () => true } = {}) {
      const all = listeners.get(include) ?? new Set()
      const listener: DeltaListener = { hear: (piece) => hear(unsafeCast(piece)), wanted }
      listeners.set(include, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0) listeners.delete(include)
      }
    },
    told({ include }, subject, shown) {
      let isClosed = false
      return {
        write(kind, text) {
          shown.write(kind, text)
          if (!isClosed && listeners.size > 0) tell(include, { subject, kind, text })
        },
        close() {
          isClosed = true
          shown.close()
        },
      }
    },
  }
}
