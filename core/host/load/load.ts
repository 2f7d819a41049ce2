/** Imports the plugins' code. One that cannot be imported is a fact to report, not an error. */
import type { Clock } from '../../base/clock.js'
import type { AnyPlugin } from '../../plugin/contract.js'
import { bounded } from '../bounded.js'
import type { Candidate } from './candidate.js'

export type Loaded = { readonly candidate: Candidate; readonly ms: number } & (
  | { readonly ok: true; readonly plugin: AnyPlugin }
  | { readonly ok: false; readonly error: unknown }
)
export interface LoadBound {
  readonly clock: Clock
  readonly ms: number
  /** Ends the wait when it aborts. */
  readonly asked?: AbortSignal | undefined
}

/** What is waited for, as the fault says it. */
export const importing = 'importing it'

const loadOne = async (candidate: Candidate, bound: LoadBound): Promise<Loaded> => {
  const { clock } = bound
  const from = clock.elapsed()
  try {
    const plugin = await bounded(candidate.load(), { ...bound, what: importing })
    return { candidate, ok: true, plugin, ms: clock.elapsed() - from }
  } catch (error) {
    return { candidate, ok: false, error, ms: clock.elapsed() - from }
  }
}

/** All at once; the answers are in the order of the candidates. */
export const loadAll = (candidates: readonly Candidate[], bound: LoadBound): Promise<readonly Loaded[]> =>
  Promise.all(candidates.map((candidate) => loadOne(candidate, bound)))
