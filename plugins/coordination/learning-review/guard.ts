/** What must hold before something becomes active without a person. */
import type { DebugEvidence } from '../../execution/debug/contract.js'
import type { RunMemories } from '../../execution/memory/contract.js'
import type { LearningCandidate, Learnings } from '../learnings/contract.js'
import type { Action } from './evaluate.js'
import { isInEvidence, isInMemory, namedArtifacts, restsOnMemory } from './support.js'

export interface GuardParts {
  readonly learnings: Pick<Learnings, 'conflict' | 'isFull'>
  readonly memories: () => RunMemories | undefined
  readonly evidence: () => DebugEvidence | undefined
}

export interface Guarded {
  readonly action: Action
  /** Why it is another one. */
  readonly reason?: string
}

const isRemembered = async (memories: RunMemories | undefined, candidate: LearningCandidate): Promise<boolean> => {
  const { run_id, session_id = candidate.scope.id } = candidate.source
  if (memories === undefined || run_id === undefined || !restsOnMemory(candidate)) return false
  const known = memories.find(session_id, run_id)
  if (known === undefined) await memories.settled()
  const memory = known ?? memories.find(session_id, run_id)
  return memory !== undefined && isInMemory(candidate, memory)
}

const isShown = async (evidence: DebugEvidence | undefined, candidate: LearningCandidate): Promise<boolean> => {
  const { run_id } = candidate.source
  if (evidence === undefined || run_id === undefined) return false
  for (const artifact_id of namedArtifacts(candidate)) {
    const text = await evidence.text(run_id, artifact_id)
    if (text !== undefined && isInEvidence(candidate, text)) return true
  }
  return false
}

/** True where the run that a candidate comes from bears it out. */
export const isSupported = async (parts: GuardParts, candidate: LearningCandidate): Promise<boolean> =>
  candidate.content.trim() !== '' &&
  ((await isRemembered(parts.memories(), candidate)) || (await isShown(parts.evidence(), candidate)))

/** What keeps a publication from being made now: looked at again in the commit of it. */
export const hindered = ({ learnings }: Pick<GuardParts, 'learnings'>, candidate: LearningCandidate, action: Action) =>
  withRoom({ learnings }, candidate, withoutConflict({ learnings }, candidate, action))

const withoutConflict = (
  { learnings }: Pick<GuardParts, 'learnings'>,
  candidate: LearningCandidate,
  action: Action,
): Guarded => {
  const other = action === 'publish_active' ? learnings.conflict(candidate) : undefined
  if (other === undefined) return { action }
  return { action: 'manual_review', reason: `The learning ${other.learning_id} says something else of the same.` }
}

const withRoom = (
  { learnings }: Pick<GuardParts, 'learnings'>,
  { scope }: LearningCandidate,
  guarded: Guarded,
): Guarded => {
  const isPublished = guarded.action === 'publish_active' || guarded.action === 'publish_provisional'
  if (!isPublished || !learnings.isFull(scope)) return guarded
  return { action: 'manual_review', reason: 'Its scope holds as many learnings as it may.' }
}

/** First what speaks against it at all, then whether it is borne out. */
export const guard = async (parts: GuardParts, candidate: LearningCandidate, action: Action): Promise<Guarded> => {
  const free = hindered(parts, candidate, action)
  if (free.action !== 'publish_active' || (await isSupported(parts, candidate))) return free
  return { action: 'publish_provisional', reason: 'The run that it comes from does not bear it out.' }
}
