/** How long to wait before something is tried again. */
import type { Ids } from './ids.js'

/** The wait behind attempt 1, 2, …, milliseconds: `base`, then doubled for each attempt, `max` at most. */
export const backoff = ({ base, max }: { readonly base: number; readonly max: number }, attempt: number): number =>
  Math.min(max, base * 2 ** Math.min(attempt - 1, 40))

/** A number from 0 to below 1 by chance, so that what failed together is not repeated together. */
export const chance = (ids: Ids): number => parseInt(ids.random(4), 16) / 2 ** 32
