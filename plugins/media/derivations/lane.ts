/** Who may work at a time. */

/** One thing after the other for each name, and any number of names at a time. */
export type InLane = <T>(lane: string, work: () => Promise<T>) => Promise<T>

export const createLane = (): InLane => {
  const last = new Map<string, Promise<unknown>>()
  return async (lane, work) => {
    const before = last.get(lane)
    const mine = (before ?? Promise.resolve()).catch(() => {}).then(work)
    const settled = mine.catch(() => {})
    last.set(lane, settled)
    try {
      return await mine
    } finally {
      if (last.get(lane) === settled) last.delete(lane)
    }
  }
}

/** No more than so many at a time; the others wait in the order in which they came. */
export type InSlot = <T>(work: () => Promise<T>) => Promise<T>

export const createSlots = (most: number): InSlot => {
  const waiting: (() => void)[] = []
  let free = most
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => void waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}
