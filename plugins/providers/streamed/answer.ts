/** What a protocol makes of the events of one answer. */
import type { ModelEvent } from '../../execution/models/contract.js'
import type { Delta } from './fresh-deltas.js'

/** Collects what a server streams and decides at its end what the answer is. Nothing acts before that. */
export interface Answer {
  /** Takes the data of one event. What stands behind the end counts no more. */
  take(data: string): void
  /**
   * Takes the JSON of an answer that came at once, of a server that does not stream; false if it is none. Absent where
   * every server of the protocol streams.
   */
  takeWhole?(data: string): boolean
  /** An event is larger than any that is read. */
  overflow(): void
  /** What became visible since the last time, neighbours of one kind joined. */
  fresh(): readonly Delta[]
  /**
   * `finished`: the model has ended, and its usage may follow. `done`: the server said that nothing follows. `failed`:
   * nothing that may follow mends it.
   */
  state(): 'open' | 'finished' | 'done' | 'failed'
  /** What it is, now that nothing follows. */
  end(): ModelEvent[]
}
