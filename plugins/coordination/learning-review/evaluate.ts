/** What the policy says of a candidate. Pure: tables of tests have all of it. */
import { latestTime } from '../../../core/plugin.js'
import type { LearningCandidate, LearningPolicy } from '../learnings/contract.js'

/** What was decided without a person, as it is kept. */
export type Review = NonNullable<LearningCandidate['automation_review']>
export type Action = Review['action']
type Publication = LearningPolicy['publication']
type Rule = Publication['rules'][number]

export interface Question {
  readonly candidate: Pick<
    LearningCandidate,
    'scope' | 'kind' | 'sensitivity' | 'confidence' | 'origin' | 'source' | 'evidence_refs'
  >
  readonly publication: Publication
  /** Whether its content looks like a secret. */
  readonly isSecret: boolean
}

/** What the policy says, before anybody is asked. */
export interface Baseline {
  readonly action: Action
  readonly matched_rule_name?: string
  readonly expires_after_ms?: number
  /** One sentence. */
  readonly reason: string
}

const said: ReadonlySet<LearningCandidate['kind']> = new Set(['fact', 'preference', 'decision'])
/** What says something of the world, so that it can be true or a secret. */
export const isSaid = ({ kind }: Pick<LearningCandidate, 'kind'>): boolean => said.has(kind)

const folded = (name: string): string => name.trim().toLowerCase()
const isThere = (text: string | undefined): boolean => text !== undefined && text.trim() !== ''
const fits = <T>(wish: T | undefined, value: T): boolean => wish === undefined || wish === value

/** Only what the daemon says of where a candidate comes from counts: callers may say anything. */
const hasProof = ({ origin, source, evidence_refs = [] }: Question['candidate'], rule: Rule): boolean => {
  if (!rule.require_evidence && !rule.require_source_run && !rule.require_source_session) return true
  return (
    origin === 'daemon' &&
    (!rule.require_evidence || evidence_refs.length > 0) &&
    (!rule.require_source_run || isThere(source.run_id)) &&
    (!rule.require_source_session || isThere(source.session_id))
  )
}

const matches = (candidate: Question['candidate'], rule: Rule): boolean =>
  fits(rule.scope_kind, candidate.scope.kind) &&
  fits(rule.scope_id, candidate.scope.id) &&
  fits(rule.kind, candidate.kind) &&
  fits(rule.sensitivity, candidate.sensitivity) &&
  candidate.confidence >= (rule.min_confidence ?? 0) &&
  hasProof(candidate, rule)

const downgraded = ({ candidate, publication }: Question, baseline: Baseline): Baseline => {
  if (baseline.action !== 'publish_active') return baseline
  const to = (action: Action, why: string): Baseline => ({ ...baseline, action, reason: `${baseline.reason} ${why}` })
  if (candidate.kind === 'procedure') return to('manual_review', 'A procedure becomes active by a person alone.')
  if (candidate.origin === 'api' && !publication.allow_api_origin_active_publication)
    return to('publish_provisional', 'What the API brings does not become active by itself.')
  return baseline
}

export const evaluate = (question: Question): Baseline => {
  const { candidate, publication, isSecret } = question
  if (isSecret && isSaid(candidate)) return { action: 'reject', reason: 'Its content looks like a secret.' }
  const aside = new Set(publication.quarantined_rule_names.map(folded))
  const rule = publication.rules.find((one) => !aside.has(folded(one.name)) && matches(candidate, one))
  if (rule === undefined) return { action: publication.default_action, reason: 'No rule matches.' }
  const { name, action, expires_after_ms } = rule
  return downgraded(question, {
    action,
    matched_rule_name: name,
    ...(expires_after_ms !== undefined && { expires_after_ms }),
    reason: `The rule ${JSON.stringify(name)} matches.`,
  })
}

/** When a learning ends that is published now: the earlier of what the candidate and the rule say. Unix ms. */
export const endOf = (
  candidate: Pick<LearningCandidate, 'expires_at_ms'>,
  expires_after_ms: number | undefined,
  now: number,
): number | undefined => {
  const ends = [candidate.expires_at_ms, expires_after_ms === undefined ? undefined : now + expires_after_ms].filter(
    (end) => end !== undefined,
  )
  return ends.length === 0 ? undefined : Math.min(...ends, latestTime)
}
