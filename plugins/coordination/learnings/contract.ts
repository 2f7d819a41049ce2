/** What was learned and is kept: candidates, learnings, and what is done about them. Rules: docs/rules/learnings.md. */
import {
  definePoint,
  defineToken,
  hasMembers,
  type Collection,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import type { LearningScope } from '../../execution/memory/contract.js'
import type { LearningPolicy } from './policy.js'
import type { Learning, LearningCandidate } from './record.js'

/** Problems of learnings, for routes of other plugins. */
export { learningErrors } from './errors.js'
/** What the operator decided. */
export type { LearningPolicy } from './policy.js'
/** What may become of a candidate without a person. */
export { policyActions } from './policy.js'
/** Candidates and learnings, as they are kept and shown. */
export { AutomationReview, EvidenceRef, Learning, LearningCandidate, LearningSource } from './record.js'

/** A candidate that the daemon itself brings. */
export type CandidateDraft = Pick<LearningCandidate, 'scope' | 'kind' | 'sensitivity' | 'content' | 'confidence'> &
  Partial<Pick<LearningCandidate, 'source' | 'evidence_refs' | 'expires_at_ms'>>

/** How a candidate is published without a person. */
export interface AutomaticPublication {
  readonly tier: 'provisional' | 'active'
  /** Unix ms, that of the candidate if it is earlier. */
  readonly expires_at_ms?: number
}

/** Candidates and learnings, for plugins that bring, judge or use them. The collections are for reading alone. */
export interface Learnings {
  /**
   * Index `unreviewed`, group `all`: those that are pending and have no review, by id. `state`: by state. Of those from
   * the daemon that are over at some time and not published, `leaving`, group `all`, has all in order of their ends,
   * and `summaries` those of kind `run_summary` by session.
   */
  readonly candidates: Collection<LearningCandidate>
  readonly learnings: Collection<Learning>
  /** As it is now: the setting of the runtime. */
  policy(): LearningPolicy
  /**
   * Keeps one in a commit, with origin `daemon`. Undefined, and nothing is kept, where it is blank or longer than 1600
   * characters, where a secret is in a fact, a preference or a decision, or in a note, or where the same came from the
   * same run and session before.
   */
  propose(tx: Tx, draft: CandidateDraft): LearningCandidate | undefined
  /**
   * Writes what was decided without a person, with the state that follows from it. Of one that is not pending any more
   * the state stays. Throws `learning_candidate_not_found`.
   */
  review(tx: Tx, candidate: LearningCandidate, review: NonNullable<LearningCandidate['automation_review']>): void
  /**
   * Publishes a candidate in a commit as `automatic` of the actor `daemon`: the learning, or one that says the same.
   * One that is published answers its learning. Throws `learning_candidate_rejected`, `learning_conflict`, and
   * `learnings_full` where the scope holds 10,000: then nothing of the commit may stand.
   */
  publish(tx: Tx, candidate: LearningCandidate, wish: AutomaticPublication): Learning
  /** The active learning that says something else of the same subject in the same scope and kind. */
  conflict(of: Pick<LearningCandidate, 'scope' | 'kind' | 'content'>): Learning | undefined
  /** True where the daemon brought a candidate of this run: its summary, or something else. */
  isCaptured(run_id: string, what: 'summary' | 'semantic'): boolean
  /** True where `propose` would keep nothing of this text, because it looks like a secret. */
  tellsSecret(text: string): boolean
  /** Takes away those that the daemon brought and nobody published; others stay, and so does what cannot be read. */
  forget(tx: Tx, candidate_ids: readonly string[]): void
  /** True where a scope holds as many learnings as it may: `publish` throws then. */
  isFull(scope: LearningScope): boolean
  /** Listens for candidates that have come; called after that is durable. Must not throw. Returns the undo. */
  onProposed(listener: (candidate: LearningCandidate) => void): () => void
}
/** The learnings of this daemon. */
export const Learnings: Token<Learnings> = defineToken<Learnings>('learnings@1')

/** Somebody who keeps what rests on a learning. */
export interface LearningUser {
  readonly id: string
  /**
   * Called in the commit in which an active learning is superseded or revoked, for what ends with it. Must be fast, and
   * must not be async, write to the learning or throw: what it throws is charged to its plugin, what it changed is
   * taken back, and the learning ends. What a shipped plugin throws undoes the commit.
   */
  ended(tx: Tx, learning: Learning, why: 'superseded' | 'revoked'): void
  /**
   * Resolves when what follows from such commits is done; requests that end learnings wait for it, ten seconds at most.
   * Must not reject. One that does, or takes longer, is charged to its plugin, and the request is answered; while a
   * shipped plugin is not done, with `learnings_unsettled`.
   */
  settled?(): Promise<void>
}
/** Everyone who keeps what rests on learnings. */
export const LearningUsers: Point<LearningUser> = definePoint<LearningUser>(
  'learning-users@1',
  ({ id }) => id,
  hasMembers('a user of learnings', { id: 'id', ended: 'function' }),
)
