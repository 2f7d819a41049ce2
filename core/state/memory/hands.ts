/** How records and entries leave the state: as they are, or so that whoever gets one cannot write to it. */
import { freezeRecord } from '../../base/foreign/frozen.js'

export interface Hands {
  /** The same value. */
  out<T>(value: T): T
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
    out(value) {
      if (freezes) freezeRecord(value)
      return value
    },
    freeze() {
      freezes = true
    },
  }
}
