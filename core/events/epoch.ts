/** Event ids are `epoch × 2^32 + counter`, so that they rise over restarts (events-5). */

/** The epoch of the next start: unix seconds, but always above the last one. */
export const epochAfter = (previous: number, nowMs: number): number => Math.max(Math.floor(nowMs / 1000), previous + 1)

/** The lower half of an id, in decimal. */
const halfDigits = 9
const half = 10 ** halfDigits

export interface IdSpace {
  /** The id of the counter's value; 0 is the floor, a cursor before the first event. */
  id(counter: number): string
  /** Where a cursor lies in this epoch: its counter, `'before'` for an older epoch, clamped to `newest`. */
  locate(cursor: bigint, newest: number): number | 'before'
}

export const createIdSpace = (epoch: number): IdSpace => {
  const floor = BigInt(epoch) << 32n
  // Ids are made for every event: in two halves they need no large number.
  const [high, low] = [Number(floor / BigInt(half)), Number(floor % BigInt(half))]
  return {
    id: (counter) => {
      const sum = low + counter
      return `${high + Math.floor(sum / half)}${String(sum % half).padStart(halfDigits, '0')}`
    },
    locate: (cursor, newest) => {
      if (cursor < floor) return 'before'
      const beyond = cursor - floor
      return beyond > BigInt(newest) ? newest : Number(beyond)
    },
  }
}
