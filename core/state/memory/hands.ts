/** How records and entries leave the state: as they are, or so that whoever gets one cannot write to it. */
import { freezeOnce, freezeRecord } from '../../base/foreign/frozen.js'

export interface Hands {
  /** The same record. */
  out<T>(record: T): T
  /** Told of each record that is put, when it is known to be JSON. */
  in(record: unknown): void
}

export interface StateHands extends Hands {
  /** From now on nothing is handed out that could be written to. */
  freeze(): void
}

/** What all collections of one state have. */
export interface Shared {
  /** When the root was made, Unix ms; 0: nobody knows. */
  readonly madeAt: number
  readonly hands: Hands
}

/** What nobody else reads need not be gone through. */
export const createHands = (): StateHands => {
  let freezes = false
  return {
    out(record) {
      if (freezes) freezeOnce(record)
      return record
    },
    in(record) {
      if (freezes) freezeRecord(record)
    },
    freeze() {
      freezes = true
    },
  }
}
