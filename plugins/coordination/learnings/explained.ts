/** Where a candidate is, and what would move it. */
import { beginningOf, commandLine, type Clock } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import type { LearningPolicy } from './policy.js'
import type { Publishing } from './publish.js'
import type { LearningCandidate } from './record.js'
import type { LearningStore } from './store.js'

export interface ExplainedParts {
  readonly store: LearningStore
  readonly publishing: Pick<Publishing, 'conflict'>
  readonly policy: () => LearningPolicy
  readonly clock: Clock
}

/** Characters of a content that are shown. */
const mostShown = 80

/** What decides about a candidate. */
export const decide = (candidate_id: string): readonly string[] => [
  commandLine('learnings candidates publish', candidate_id),
  commandLine('learnings candidates reject', candidate_id),
]

/** What stands in the way of whoever would publish it. */
const conflictReasons = ({ publishing, clock }: ExplainedParts, candidate: LearningCandidate): readonly Reason[] => {
  const other = publishing.conflict(candidate, clock.now())
  if (other === undefined) return []
  const { learning_id } = other
  return [
    {
      code: 'learning_conflict',
      text: `The learning ${learning_id} says something else of the same, and would have to be superseded or revoked.`,
      commands: [
        commandLine(`learnings candidates publish --supersedes ${learning_id}`, candidate.candidate_id),
        commandLine('learnings revoke', learning_id),
      ],
    },
  ]
}

/** Why nothing is decided about it without a person. */
const undecided = ({ policy }: ExplainedParts, { automation_review: review }: LearningCandidate): Reason => {
  const { mode } = policy()
  if (mode === 'manual_only') return { code: 'people_decide', text: 'The learning policy leaves it to people.' }
  if (review === undefined) return { code: 'not_reviewed', text: 'It has not been looked at by the learning policy.' }
  const { action, reason } = review
  if (action === 'manual_review') return { code: 'people_decide', text: `People are to decide. ${reason}` }
  return { code: 'only_noted', text: `The policy would ${verbs[action]} it, and only notes that. ${reason}` }
}
const verbs = { reject: 'reject', publish_provisional: 'provisionally publish', publish_active: 'publish' } as const

const reasonsOf = (parts: ExplainedParts, candidate: LearningCandidate): readonly Reason[] => {
  const { state, candidate_id, automation_review: review, expires_at_ms } = candidate
  if (state === 'published' || state === 'rejected') return []
  const until = expires_at_ms === undefined ? {} : { until_ms: expires_at_ms }
  const why: Reason =
    state === 'escalated'
      ? { code: 'escalated', text: `People are to decide. ${review?.reason ?? ''}`.trim() }
      : undecided(parts, candidate)
  return [{ ...why, ...until, commands: decide(candidate_id) }, ...conflictReasons(parts, candidate)]
}

export const candidateReasons = (parts: ExplainedParts): ReasonSource => ({
  id: 'learnings',
  of({ kind, id }) {
    const candidate = kind === 'candidate' ? parts.store.candidates.find(id) : undefined
    return candidate === undefined ? [] : reasonsOf(parts, candidate)
  },
})

const subjectOf = (candidate: LearningCandidate): Subject => {
  const { candidate_id, state, kind, content, created_at_ms, source, published_learning_id } = candidate
  const became = published_learning_id === undefined ? '' : ` It became the learning ${published_learning_id}.`
  return {
    kind: 'candidate',
    id: candidate_id,
    status: state,
    text: `It proposes the ${kind.replace('_', ' ')} ${JSON.stringify(beginningOf(content, mostShown))}.${became}`,
    since_ms: created_at_ms,
    ...(source.session_id !== undefined && { session_id: source.session_id }),
  }
}

export const candidateSubjects = ({ store }: Pick<ExplainedParts, 'store'>): SubjectSource => ({
  id: 'learnings',
  find(id) {
    const candidate = store.candidates.find(id)
    return candidate && subjectOf(candidate)
  },
})
