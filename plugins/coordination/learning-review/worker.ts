/** Goes through the candidates that are due, in portions, each in one commit with what follows from it. */
import { tellFailure, type Log, type State, thrownText } from '../../../core/plugin.js'
import type { LearningCandidate } from '../learnings/contract.js'
import { apply, assess, policyKey, type AssessParts, type Matter, type Verdict } from './assess.js'
import { createRounds, type RoundParts, type Rounds } from './rounds.js'

export interface WorkerParts extends AssessParts, RoundParts {
  readonly state: State
  readonly log: Log
}

/** Candidates of one portion and, if nobody is asked about them, of one commit. */
const portion = 32

/** In shadow what has no note yet; enabled, whatever waits, since what waits is to be decided. */
const due = { shadow: { index: 'unreviewed', group: 'all' }, enabled: { index: 'state', group: 'pending' } } as const

const readable = ({ learnings, log }: WorkerParts, candidate_id: string): LearningCandidate | undefined => {
  try {
    return learnings.candidates.find(candidate_id)
  } catch (error) {
    log.warn('a learning candidate cannot be read', { candidate_id, error: thrownText(error) })
    return undefined
  }
}

/** One that cannot be kept takes nothing from the others: it waits for the next look. */
const keep = async (parts: WorkerParts, verdicts: readonly Verdict[]): Promise<void> => {
  const { state, log } = parts
  if (verdicts.length === 0) return
  try {
    await state.commit((tx) => {
      for (const verdict of verdicts) apply(parts, tx, verdict)
    })
  } catch (error) {
    if (state.health.mode !== 'ok') throw error
    if (verdicts.length > 1) for (const verdict of verdicts) await keep(parts, [verdict])
    else tellFailure({ log, state }, 'a review could not be kept', { candidate_id: verdicts[0]?.candidate_id, error })
  }
}

/** One that cannot be assessed takes nothing from the others either. */
const quietly = (parts: WorkerParts, matter: Matter, signal: AbortSignal): ReturnType<typeof assess> | undefined => {
  const { candidate_id } = matter.candidate
  const tell = (error: unknown): undefined => {
    tellFailure(parts, 'a candidate could not be reviewed', { candidate_id, error })
  }
  try {
    const assessed = assess(parts, matter, signal)
    return assessed instanceof Promise ? assessed.catch(tell) : assessed
  } catch (error) {
    return tell(error)
  }
}

const decide = async (parts: WorkerParts, ids: readonly string[], signal: AbortSignal): Promise<void> => {
  const policy = parts.learnings.policy()
  const key = policyKey(policy)
  let verdicts: Verdict[] = []
  for (const id of ids) {
    const candidate = readable(parts, id)
    if (candidate?.state !== 'pending') continue
    const assessed = quietly(parts, { candidate, policy, key }, signal)
    if (!(assessed instanceof Promise)) {
      if (assessed !== undefined) verdicts.push(assessed)
      continue
    }
    // What is decided already does not wait for it.
    const [verdict] = await Promise.all([assessed, keep(parts, verdicts)])
    verdicts = []
    if (verdict !== undefined) await keep(parts, [verdict])
    if (signal.aborted || key !== policyKey(parts.learnings.policy())) return
  }
  await keep(parts, verdicts)
}

const round = async (parts: WorkerParts, signal: AbortSignal): Promise<void> => {
  const { learnings } = parts
  for (let beyond: string | undefined; !signal.aborted;) {
    const { mode } = learnings.policy()
    if (mode === 'manual_only') return
    const ids = learnings.candidates.page({
      ...due[mode],
      limit: portion,
      ...(beyond !== undefined && { beyond }),
    })
    if (ids.length === 0) return
    await decide(parts, ids, signal)
    beyond = ids.at(-1)
  }
}

/** Work that goes on from records alone: a kill at any point leaves a candidate due, or decided as a whole. */
export const createWorker = (parts: WorkerParts): Rounds =>
  createRounds(parts, {
    fact: 'learning candidates could not be reviewed',
    round: (signal) => round(parts, signal),
  })
