/** What the daemon brought and nobody published leaves when its time is over, in portions. */
import type { Learnings } from '../learnings/contract.js'
import { createRounds, type RoundParts, type Rounds } from './rounds.js'

export interface LeavingParts extends RoundParts {
  readonly learnings: Learnings
}

/** Candidates of one commit. */
const portion = 100

const round = async ({ learnings, state, clock }: LeavingParts, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const first = learnings.candidates.list({ index: 'leaving', group: 'all', limit: portion, skip: () => {} })
    const over = first.filter(({ expires_at_ms = Infinity }) => expires_at_ms <= clock.now())
    if (over.length === 0) return
    const ids = over.map(({ candidate_id }) => candidate_id)
    await state.commit((tx) => learnings.forget(tx, ids))
    if (ids.every((id) => learnings.candidates.has(id))) return
  }
}

export const createLeaving = (parts: LeavingParts): Rounds =>
  createRounds(parts, {
    fact: 'learning candidates that are over could not be removed',
    round: (signal) => round(parts, signal),
  })
