/** How candidates become learnings, and learnings are replaced and end. Each in one commit of the caller. */
import type { Ids, Observers, Tx } from '../../../core/plugin.js'
import { scopeKey } from './checked.js'
import type { LearningUser } from './contract.js'
import { learningErrors } from './errors.js'
import type { Learning, LearningCandidate } from './record.js'
import { isLive, statementMark, subjectMark, type LearningStore, type Stated } from './store.js'

/** Learnings of one scope that hold at the same time. */
export const mostInScope = 10_000

/** What a learning is made of. */
export type Draft = Pick<
  Learning,
  'scope' | 'kind' | 'sensitivity' | 'content' | 'confidence' | 'source' | 'created_at_ms' | 'publish_tier'
> &
  Partial<Pick<Learning, 'evidence_refs' | 'source_candidate_id'>> & {
    readonly expires_at_ms?: number | undefined
    /** Who decided: an operator, or the daemon by itself. */
    readonly by: 'operator' | 'daemon'
  }

export interface PublishParts {
  readonly store: LearningStore
  readonly ids: Ids
  readonly users: Pick<Observers<LearningUser>, 'tell'>
}

export interface Publishing {
  /** The active learning that says something else of the same subject; `except` aside. */
  conflict(of: Stated, now: number, except?: string): Learning | undefined
  /** The learning of a draft, in the place of another if one is given, or one that says the same. */
  publish(tx: Tx, draft: Draft, replaced?: Learning): Learning
  /** The learning of a published candidate; undefined while it is not published. Throws where it was rejected. */
  published(candidate: LearningCandidate): Learning | undefined
  /** The same record if it is revoked already. */
  revoke(tx: Tx, learning: Learning, reason: string | undefined): Learning
  /** One that says the same and holds; `except` aside. */
  equivalent(of: Stated, now: number, except?: string): Learning | undefined
}

export const createPublishing = ({ store, ids, users }: PublishParts): Publishing => {
  const equivalent: Publishing['equivalent'] = (of, now, except) =>
    store.shown('statement', statementMark(of), now).find(({ learning_id }) => learning_id !== except)
  const conflict: Publishing['conflict'] = (of, now, except) => {
    const [subject, statement] = [subjectMark(of), statementMark(of)]
    if (subject === undefined) return undefined
    return store
      .shown('subject', subject, now)
      .find((other) => other.learning_id !== except && statementMark(other) !== statement)
  }
  const end = (tx: Tx, before: Learning, after: Learning): Learning => {
    store.putLearning(tx, after)
    const why = after.status === 'revoked' ? 'revoked' : 'superseded'
    if (before.status === 'active')
      users.tell(tx, 'what follows from the end of a learning', (user) => user.ended(tx, after, why))
    return after
  }
  const supersede = (tx: Tx, before: Learning, superseded_by: string): void =>
    void end(tx, before, { ...before, status: 'superseded', superseded_by })

  const checkRoom = (draft: Draft, tx: Tx, replaced: Learning | undefined): void => {
    const most = mostInScope + (replaced === undefined ? 0 : 1)
    if (store.count(draft.scope, tx.now) < most) return
    throw learningErrors.learnings_full({ details: { scope: scopeKey(draft.scope), most: mostInScope } })
  }
  return {
    conflict,
    equivalent,
    publish(tx, draft, replaced) {
      const same = equivalent(draft, tx.now, replaced?.learning_id)
      if (same !== undefined) {
        if (replaced !== undefined) supersede(tx, replaced, same.learning_id)
        return same
      }
      const other = draft.publish_tier === 'active' ? conflict(draft, tx.now, replaced?.learning_id) : undefined
      if (other !== undefined) throw learningErrors.learning_conflict({ details: { learning_id: other.learning_id } })
      checkRoom(draft, tx, replaced)
      const learning = learningOf(draft, { learning_id: ids.make('learning'), now: tx.now, replaced })
      if (replaced !== undefined) supersede(tx, replaced, learning.learning_id)
      return store.putLearning(tx, learning)
    },
    published({ candidate_id, state, published_learning_id = '' }) {
      if (state === 'rejected') throw learningErrors.learning_candidate_rejected({ details: { candidate_id } })
      if (state !== 'published') return undefined
      const learning = store.learnings.find(published_learning_id)
      if (learning !== undefined) return learning
      const details = { candidate_id, learning_id: published_learning_id }
      throw learningErrors.learning_candidate_published({ details })
    },
    revoke(tx, learning, reason) {
      if (learning.status === 'revoked') return learning
      const said = reason?.trim() ?? ''
      return end(tx, learning, {
        ...learning,
        status: 'revoked',
        revoked_at_ms: Math.max(tx.now, learning.published_at_ms),
        ...(said !== '' && { revoked_reason: said }),
      })
    },
  }
}

/** What may still be replaced; throws where it is over. */
export const checkReplaceable = (learning: Learning): Learning => {
  if (isLive(learning)) return learning
  const { learning_id, superseded_by = '' } = learning
  if (learning.status === 'revoked') throw learningErrors.learning_revoked({ details: { learning_id } })
  throw learningErrors.learning_superseded({ details: { learning_id, superseded_by } })
}

interface Born {
  readonly learning_id: string
  readonly now: number
  readonly replaced: Learning | undefined
}

const learningOf = ({ by, expires_at_ms, ...draft }: Draft, { learning_id, now, replaced }: Born): Learning => ({
  learning_id,
  ...draft,
  published_at_ms: now,
  ...(expires_at_ms !== undefined && { expires_at_ms }),
  status: draft.publish_tier,
  policy_decision: by === 'operator' ? 'manual' : 'automatic',
  policy_actor: by,
  verification_status: by === 'daemon' && draft.publish_tier === 'active' ? 'verified' : 'unverified',
  ...(replaced !== undefined && { supersedes: replaced.learning_id }),
})
