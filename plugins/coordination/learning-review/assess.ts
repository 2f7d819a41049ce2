/** What becomes of one candidate: the policy, then the judge, then the guard; and how that is kept. */
import { canonical, type Clock, type Tx } from '../../../core/plugin.js'
import type { LearningCandidate, LearningPolicy, Learnings } from '../learnings/contract.js'
import { endOf, evaluate, type Action, type Baseline, type Review } from './evaluate.js'
import { guard, hindered, type GuardParts } from './guard.js'
import { askJudge, isJudged, type AskParts } from './judge.js'

export interface AssessParts extends AskParts, GuardParts {
  readonly learnings: Learnings
  readonly clock: Clock
}

/** What was decided about a candidate under a policy. */
export interface Verdict {
  readonly candidate_id: string
  /** The policy, so that nothing is done that holds no more. */
  readonly policy: string
  readonly review: Omit<Review, 'reviewed_at_ms'>
  readonly expires_after_ms: number | undefined
}

/** Of policies in memory: each verdict asks for it. */
const keys = new WeakMap<LearningPolicy, string>()
/** Told apart, so that nothing is decided by a policy that was replaced meanwhile. */
export const policyKey = (policy: LearningPolicy): string => {
  const key = keys.get(policy) ?? canonical(policy)
  keys.set(policy, key)
  return key
}

export interface Matter {
  readonly candidate: LearningCandidate
  readonly policy: LearningPolicy
  readonly key: string
}

interface Course {
  readonly action: Action
  readonly reasons: readonly string[]
  readonly judge?: Review['judge']
}

const verdictOf = ({ candidate, policy, key }: Matter, baseline: Baseline, course: Course): Verdict => ({
  candidate_id: candidate.candidate_id,
  policy: key,
  review: {
    mode: policy.mode,
    action: course.action,
    ...(baseline.matched_rule_name !== undefined && { matched_rule_name: baseline.matched_rule_name }),
    ...(course.judge !== undefined && { judge: course.judge }),
    reason: course.reasons.join(' '),
  },
  expires_after_ms: baseline.expires_after_ms,
})

const judged = async (
  parts: AssessParts,
  { candidate, policy }: Matter,
  { baseline, signal }: { readonly baseline: Baseline; readonly signal: AbortSignal },
): Promise<Course> => {
  const { action, reason, hasFailed } = await askJudge(parts, { candidate, baseline, policy }, signal)
  const decided = hasFailed && policy.mode !== 'enabled' ? baseline.action : action
  return {
    action: decided,
    reasons: [baseline.reason, `The judge ${hasFailed ? 'failed' : `says ${action}`}: ${reason}`],
    judge: { action, judged_at_ms: parts.clock.now(), reason },
  }
}

const waited = async (
  parts: AssessParts,
  matter: Matter,
  { baseline, signal }: { readonly baseline: Baseline; readonly signal: AbortSignal },
): Promise<Verdict | undefined> => {
  const course = isJudged(matter.policy, baseline)
    ? await judged(parts, matter, { baseline, signal })
    : { action: baseline.action, reasons: [baseline.reason] }
  const { action, reason } = await guard(parts, matter.candidate, course.action)
  // What a stop cut short was not decided.
  if (signal.aborted) return undefined
  return verdictOf(matter, baseline, { ...course, action, reasons: [...course.reasons, ...(reason ? [reason] : [])] })
}

/** At once where nobody has to be asked and nothing to be read. Undefined if the signal aborted first. */
export const assess = (
  parts: AssessParts,
  matter: Matter,
  signal: AbortSignal,
): Verdict | Promise<Verdict | undefined> => {
  const { candidate, policy } = matter
  const isSecret = parts.learnings.tellsSecret(candidate.content)
  const baseline = evaluate({ candidate, publication: policy.publication, isSecret })
  if (isJudged(policy, baseline) || baseline.action === 'publish_active')
    return waited(parts, matter, { baseline, signal })
  const { action, reason } = hindered(parts, candidate, baseline.action)
  return verdictOf(matter, baseline, { action, reasons: [baseline.reason, ...(reason ? [reason] : [])] })
}

/**
 * Keeps a verdict with what follows from it. One of another time, or of what a person decided since, changes nothing.
 */
export const apply = ({ learnings }: AssessParts, tx: Tx, verdict: Verdict): void => {
  const candidate = learnings.candidates.find(verdict.candidate_id)
  if (candidate === undefined || verdict.policy !== policyKey(learnings.policy())) return
  const { review, expires_after_ms } = verdict
  const reviewed_at_ms = Math.max(tx.now, candidate.created_at_ms)
  if (candidate.state !== 'pending') {
    if (candidate.state === 'published' && candidate.automation_review === undefined)
      learnings.review(tx, candidate, { ...review, reviewed_at_ms })
    return
  }
  const { action, reason } = hindered({ learnings }, candidate, review.action)
  const last = reason === undefined ? review : { ...review, action, reason: `${review.reason} ${reason}` }
  learnings.review(tx, candidate, { ...last, reviewed_at_ms })
  if (last.mode !== 'enabled' || (action !== 'publish_active' && action !== 'publish_provisional')) return
  const expires_at_ms = endOf(candidate, expires_after_ms, tx.now)
  learnings.publish(tx, candidate, {
    tier: action === 'publish_active' ? 'active' : 'provisional',
    ...(expires_at_ms !== undefined && { expires_at_ms }),
  })
}
