/**
 * Which learnings and skills a session may see (memory-1 to memory-7). Every rule is here
 * and nowhere else.
 */
import type { LearnedEntry, LearningItem, SkillItem } from './learning.js'

/** Learnings that hold now: neither out of date nor out of place. */
export const live = (learnings: readonly LearningItem[], now: number): LearningItem[] => {
  const holding = learnings.filter(
    ({ status, verification_status, expires_at_ms }) =>
      (status === 'active' || status === 'provisional') &&
      verification_status !== 'failed' &&
      (expires_at_ms === undefined || expires_at_ms > now),
  )
  const replaced = new Set(holding.flatMap(({ supersedes }) => supersedes ?? []))
  return holding.filter(({ learning_id }) => !replaced.has(learning_id))
}

/** Rules 2 and 4. */
export const isSearchable = ({ sensitivity, policy_decision, verification_status }: LearningItem): boolean =>
  sensitivity !== 'sensitive' && (policy_decision !== 'automatic' || verification_status === 'verified')

/** Rules 1 and 3, on what may be searched. */
export const isPromptEligible = (learning: LearningItem): boolean =>
  isSearchable(learning) &&
  entryKind(learning) !== undefined &&
  learning.publish_tier !== 'provisional' &&
  learning.status !== 'provisional' &&
  learning.verification_status !== 'failed' &&
  learning.policy_decision !== 'escalated'

/** Rule 1: the kinds that a model is shown. */
const entryKind = ({ kind }: LearningItem): LearnedEntry['kind'] | undefined =>
  kind === 'procedure' || kind === 'run_summary' ? undefined : kind

export const entryOf = (learning: LearningItem): LearnedEntry[] => {
  const kind = entryKind(learning)
  const { learning_id, published_at_ms, content } = learning
  return kind === undefined ? [] : [{ learning_id, kind, published_at_ms, content }]
}

/**
 * Rule 5: with a query that something answers, what does not answer it is left out; else everything stays, in the order
 * given.
 */
export const relevant = <T extends { readonly score: number }>(scored: readonly T[]): readonly T[] => {
  const hits = scored.filter(({ score }) => score > 0)
  return hits.length === 0 ? scored : hits.toSorted((a, b) => b.score - a.score)
}

/** Rule 6, and the scope of the learning that a promoted skill comes from. */
export const isVisibleSkill = ({ promoted }: SkillItem, seesScope: (key: string) => boolean): boolean =>
  promoted === undefined ||
  (promoted.status === 'active' && seesScope(`${promoted.source_scope.kind}:${promoted.source_scope.id}`))
