/** Pseudo-random numbers that a printed seed brings back (mulberry32). */
export interface Random {
  /** An integer from 0 to `below` - 1. */
  below(below: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
}

export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { below, chance: (probability) => next() < probability, pick: (list) => list[below(list.length)] ?? list[0] }
}
