/** Candidates and learnings, for routes and for other plugins. */
import { thrownText, type Clock, type Ids, type Log, type Tx } from '../../../core/plugin.js'
import { mostContent, type SecretGuard } from './checked.js'
import type { CandidateDraft, Learnings } from './contract.js'
import type { LearningPolicy } from './policy.js'
import { mostInScope, type Publishing } from './publish.js'
import type { Learning, LearningCandidate } from './record.js'
import { capturedFrom, originMark, type LearningStore } from './store.js'

export interface ServiceParts {
  readonly store: LearningStore
  readonly publishing: Publishing
  readonly guard: SecretGuard
  readonly policy: () => LearningPolicy
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
}

export interface LearningService extends Learnings {
  /** Keeps a candidate that was looked at, and tells those that listen when that is durable. */
  keep(tx: Tx, candidate: NewCandidate): LearningCandidate
}
export type NewCandidate = Omit<
  LearningCandidate,
  'candidate_id' | 'state' | 'created_at_ms' | 'automation_review' | 'published_learning_id'
>

export const createService = ({ store, publishing, guard, policy, ids, clock, log }: ServiceParts): LearningService => {
  const listeners = new Set<(candidate: LearningCandidate) => void>()
  const tell = (candidate: LearningCandidate): void => {
    for (const listener of listeners)
      try {
        listener(candidate)
      } catch (error) {
        log.error('a listener for learning candidates failed', { error })
      }
  }
  const keep: LearningService['keep'] = (tx, draft) => {
    const candidate: LearningCandidate = {
      candidate_id: ids.make('candidate'),
      ...draft,
      state: 'pending',
      created_at_ms: tx.now,
    }
    tx.after(() => tell(candidate))
    return store.putCandidate(tx, candidate)
  }
  return {
    candidates: store.candidates,
    learnings: store.learnings,
    policy,
    keep,
    propose(tx, draft) {
      const candidate = proposed(draft)
      const { length } = candidate.content
      if (length === 0 || length > mostContent || guard.inLearning(candidate)) return undefined
      return store.candidates.count('origin', originMark(candidate)) > 0 ? undefined : keep(tx, candidate)
    },
    review(tx, { candidate_id }, review) {
      const candidate = store.candidate(candidate_id)
      const state = candidate.state === 'pending' ? stateAfter(review) : candidate.state
      store.putCandidate(tx, { ...candidate, state, automation_review: review })
    },
    publish(tx, { candidate_id }, { tier, expires_at_ms }) {
      const candidate = store.candidate(candidate_id)
      const known = publishing.published(candidate)
      if (known !== undefined) return known
      const learning = publishing.publish(tx, {
        ...keptOf(candidate),
        expires_at_ms: earlier(candidate.expires_at_ms, expires_at_ms),
        publish_tier: tier,
        source_candidate_id: candidate_id,
        by: 'daemon',
      })
      store.putCandidate(tx, { ...candidate, state: 'published', published_learning_id: learning.learning_id })
      return learning
    },
    isCaptured(run_id, what) {
      const kind = what === 'summary' ? 'run_summary' : 'fact'
      const group = capturedFrom({ origin: 'daemon', kind, source: { run_id } })
      return group !== undefined && store.candidates.count('captured', group) > 0
    },
    tellsSecret: guard.tells,
    forget(tx, ids) {
      for (const candidate_id of ids)
        try {
          const candidate = store.candidates.find(candidate_id)
          if (candidate?.origin === 'daemon' && candidate.state !== 'published')
            tx.remove(store.candidates, candidate_id, 'nobody published it')
        } catch (error) {
          log.warn('a learning candidate could not be removed', { candidate_id, error: thrownText(error) })
        }
    },
    conflict: (of) => publishing.conflict(of, clock.now()),
    isFull: (scope) => store.count(scope, clock.now()) >= mostInScope,
    onProposed(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const proposed = ({ source = {}, content, ...draft }: CandidateDraft): NewCandidate => ({
  ...draft,
  content: content.trim(),
  source,
  origin: 'daemon',
})

const stateAfter = ({
  mode,
  action,
}: NonNullable<LearningCandidate['automation_review']>): LearningCandidate['state'] => {
  if (mode !== 'enabled') return 'pending'
  if (action === 'manual_review') return 'escalated'
  return action === 'reject' ? 'rejected' : 'pending'
}

const earlier = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

/** What a learning takes over from its candidate as it is. */
export const keptOf = ({
  scope,
  kind,
  sensitivity,
  content,
  confidence,
  source,
  evidence_refs,
  created_at_ms,
}: Pick<LearningCandidate, keyof Learning & keyof LearningCandidate>) => ({
  scope,
  kind,
  sensitivity,
  content,
  confidence,
  source,
  created_at_ms,
  ...(evidence_refs !== undefined && evidence_refs.length > 0 && { evidence_refs }),
})
