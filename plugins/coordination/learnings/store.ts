/** Where candidates and learnings are kept. All are settled: they leave memory, however many there are. */
import { digest, timeKey, type Collection, type CollectionSpec, type State, type Tx } from '../../../core/plugin.js'
import type { LearningScope } from '../../execution/memory/contract.js'
import { scopeKey } from './checked.js'
import { learningErrors } from './errors.js'
import { Learning, LearningCandidate } from './record.js'
import { statementOf } from './statement.js'

/** Short, so that an index of it stays small. */
const mark = (...parts: readonly (string | undefined)[]): string =>
  digest(parts.map((part) => part ?? null)).slice(0, 32)

type Parts = readonly (string | undefined)[]
type Source = LearningCandidate['source']
/** Of each source, what was made last: a candidate and what becomes of it share theirs, and are asked many times. */
const remembering = <P extends Parts>(make: (...parts: P) => string): ((source: Source, ...parts: P) => string) => {
  const marks = new WeakMap<Source, { readonly parts: P; readonly made: string }>()
  return (source, ...parts) => {
    const known = marks.get(source)
    if (known !== undefined && parts.every((part, at) => part === known.parts[at])) return known.made
    const made = make(...parts)
    marks.set(source, { parts, made })
    return made
  }
}

type Origin = readonly [
  scope: string,
  kind: LearningCandidate['kind'],
  content: string,
  run_id: string | undefined,
  session_id: string | undefined,
]
const originOf = remembering((...[scope, kind, content, run_id, session_id]: Origin) =>
  mark(scope, kind, statementOf({ kind, content }).key, run_id, session_id),
)
/** Where one from the daemon is found that says the same and comes from the same. */
export const originMark = ({
  scope,
  kind,
  content,
  source,
}: Pick<LearningCandidate, 'scope' | 'kind' | 'content' | 'source'>): string =>
  originOf(source, scopeKey(scope), kind, content, source.run_id, source.session_id)

export type Stated = Pick<Learning, 'scope' | 'kind' | 'content'>
/** Where those are that say something of the same; undefined for one without a subject. */
export const subjectMark = (learning: Stated): string | undefined => {
  const { subject } = statementOf(learning)
  return subject === undefined ? undefined : mark(scopeKey(learning.scope), learning.kind, subject)
}
/** Where those are that say the same. */
export const statementMark = (learning: Stated): string =>
  mark(scopeKey(learning.scope), learning.kind, statementOf(learning).key)

export const isLive = ({ status }: Pick<Learning, 'status'>): boolean => status === 'active' || status === 'provisional'

/** True of one that models may be told, as far as its kind and its end let them. */
export const isShown = (learning: Learning): boolean =>
  learning.status === 'active' &&
  learning.publish_tier === 'active' &&
  learning.sensitivity !== 'sensitive' &&
  learning.verification_status !== 'failed' &&
  learning.policy_decision !== 'escalated' &&
  (learning.policy_decision !== 'automatic' || learning.verification_status === 'verified')

/** In order of their end, so that what is over is not read. */
const byEnd = ({ expires_at_ms = Number.MAX_SAFE_INTEGER, learning_id }: Learning): string =>
  `${timeKey(expires_at_ms)} ${learning_id}`
/** Behind everything that is over. */
export const afterEnds = (now: number): string => `${timeKey(now)} ~`

/** What the daemon brought of itself, is not published and is over at some time. */
const leaves = ({ origin, state, expires_at_ms }: LearningCandidate): boolean =>
  origin === 'daemon' && state !== 'published' && expires_at_ms !== undefined
const byCandidateEnd = ({ expires_at_ms = Number.MAX_SAFE_INTEGER, candidate_id }: LearningCandidate): string =>
  `${timeKey(expires_at_ms)} ${candidate_id}`

const captureOf = remembering((what: string, run_id: string) => mark(what, run_id))
/** Where what the daemon brought of a run is found: its summary, or the rest. */
export const capturedFrom = ({
  origin,
  kind,
  source,
}: Pick<LearningCandidate, 'origin' | 'kind' | 'source'>): string | undefined =>
  origin !== 'daemon' || source.run_id === undefined
    ? undefined
    : captureOf(source, kind === 'run_summary' ? kind : 'said', source.run_id)

/** Whatever a group is made of counts as one of its functions: who changes it raises the version. */
const candidateCollection: CollectionSpec<LearningCandidate> = {
  name: 'learning_candidates',
  version: 1,
  id: ({ candidate_id }) => candidate_id,
  indexes: {
    all: { group: () => 'all' },
    scope: { group: ({ scope }) => scopeKey(scope) },
    kind: { group: ({ kind }) => kind },
    state: { group: ({ state }) => state },
    rule: { group: ({ automation_review }) => ruleKey(automation_review?.matched_rule_name) },
    origin: { group: (candidate) => (candidate.origin === 'daemon' ? originMark(candidate) : undefined) },
    unreviewed: {
      group: ({ state, automation_review }) =>
        state === 'pending' && automation_review === undefined ? 'all' : undefined,
    },
    captured: { group: ({ origin, kind, source }) => capturedFrom({ origin, kind, source }) },
    leaving: { group: (candidate) => (leaves(candidate) ? 'all' : undefined), sort: byCandidateEnd },
    summaries: {
      group: (candidate) =>
        leaves(candidate) && candidate.kind === 'run_summary' ? candidate.source.session_id : undefined,
    },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: LearningCandidate,
}

const learningCollection: CollectionSpec<Learning> = {
  name: 'learnings',
  version: 1,
  id: ({ learning_id }) => learning_id,
  indexes: {
    all: { group: () => 'all' },
    scope: { group: ({ scope }) => scopeKey(scope) },
    kind: { group: ({ kind }) => kind },
    status: { group: ({ status }) => status },
    decision: { group: ({ policy_decision }) => policy_decision },
    candidate: { group: ({ source_candidate_id }) => source_candidate_id },
    live: { group: (learning) => (isLive(learning) ? scopeKey(learning.scope) : undefined), sort: byEnd },
    subject: { group: (learning) => (isShown(learning) ? subjectMark(learning) : undefined), sort: byEnd },
    statement: { group: (learning) => (isShown(learning) ? statementMark(learning) : undefined), sort: byEnd },
  },
  settled: () => true,
  schema: Learning,
}

/** Names of rules are compared without case and blanks around them. */
export const ruleKey = (name: string | undefined): string | undefined => name?.trim().toLowerCase()

export interface LearningStore {
  readonly candidates: Collection<LearningCandidate>
  readonly learnings: Collection<Learning>
  /** Throws `learning_candidate_not_found`. */
  candidate(candidate_id: string): LearningCandidate
  /** Throws `learning_not_found`. */
  learning(learning_id: string): Learning
  /** Learnings of a scope that hold. */
  count(scope: LearningScope, now: number): number
  /** What is shown and holds of an index that is in order of ends; the other one is not looked at. */
  shown(index: 'subject' | 'statement', group: string, now: number): readonly Learning[]
  putCandidate(tx: Tx, candidate: LearningCandidate): LearningCandidate
  putLearning(tx: Tx, learning: Learning): Learning
}

/** Of one subject there is one that holds, but where a rule was broken by hand. */
const mostShown = 16

export const declareLearnings = (state: State, changed: (learning: Learning) => void): LearningStore => {
  const candidates = state.collection(candidateCollection)
  const learnings = state.collection(learningCollection)
  return {
    candidates,
    learnings,
    candidate(candidate_id) {
      const candidate = candidates.find(candidate_id)
      if (candidate === undefined) throw learningErrors.learning_candidate_not_found({ details: { candidate_id } })
      return candidate
    },
    learning(learning_id) {
      const learning = learnings.find(learning_id)
      if (learning === undefined) throw learningErrors.learning_not_found({ details: { learning_id } })
      return learning
    },
    count: (scope, now) => learnings.count('live', scopeKey(scope), afterEnds(now)),
    shown: (index, group, now) => learnings.list({ index, group, limit: mostShown, beyond: afterEnds(now) }),
    putCandidate(tx, candidate) {
      tx.put(candidates, candidate)
      return candidate
    },
    putLearning(tx, learning) {
      tx.put(learnings, learning)
      changed(learning)
      return learning
    },
  }
}
