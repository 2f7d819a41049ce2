/** Candidates, learnings and the policy as text for terminals. */
import {
  array,
  beginningOf,
  boolean,
  commandLine,
  count,
  isJsonObject,
  jsonObject,
  number,
  open,
  optional,
  showTime,
  string,
  visibleBlock,
  visibleLine,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../core/plugin.js'
import { decide } from './explained.js'

const ref = open({ run_id: optional(string()), artifact_id: optional(string()), note: optional(string()) })
const shared = {
  kind: string(),
  scope: open({ kind: string(), id: string() }),
  content: string(),
  confidence: number(),
  sensitivity: optional(string()),
  source: optional(open({ run_id: optional(string()), session_id: optional(string()) })),
  evidence_refs: optional(array(ref)),
  expires_at_ms: optional(number()),
}
const review = open({ mode: string(), action: string(), matched_rule_name: optional(string()), reason: string() })
export const CandidateAnswer = open({
  candidate_id: string(),
  state: string(),
  ...shared,
  origin: optional(string()),
  automation_review: optional(review),
  published_learning_id: optional(string()),
})
export const LearningAnswer = open({
  learning_id: string(),
  status: string(),
  ...shared,
  superseded_by: optional(string()),
  supersedes: optional(string()),
  policy_decision: optional(string()),
  policy_actor: optional(string()),
  verification_status: optional(string()),
  source_candidate_id: optional(string()),
  revoked_reason: optional(string()),
  not_as_said: optional(boolean()),
})
export type ShownCandidate = Infer<typeof CandidateAnswer>
export type ShownLearning = Infer<typeof LearningAnswer>
type Shared = Pick<ShownCandidate, keyof typeof shared>

/** Characters of a content in a row. */
const mostInRow = 100

/** What it came to is the part of a summary that tells runs apart: requests of turns begin alike. */
const gist = ({ kind, content }: Shared): string =>
  (kind === 'run_summary' ? /^Result: .*$/mu.exec(content)?.[0] : undefined) ?? content
const brief = (one: Shared): string => {
  const line = gist(one).replaceAll(/\s+/gu, ' ').trim()
  return visibleLine(line.length <= mostInRow ? line : `${beginningOf(line, mostInRow - 1)}…`)
}

const headOf = (id: string, state: string, { kind, scope, confidence }: Shared): string =>
  [
    visibleLine(id),
    visibleLine(state),
    `${visibleLine(kind)} of ${visibleLine(scope.kind)} ${visibleLine(scope.id)}`,
    `${confidence}%`,
  ].join('  ')

export const showCandidate = (one: ShownCandidate): string =>
  `${headOf(one.candidate_id, one.state, one)}  ${brief(one)}`
export const showLearning = (one: ShownLearning): string => `${headOf(one.learning_id, one.status, one)}  ${brief(one)}`
export const showCandidates = (rows: ShownCandidate[]): string =>
  rows.length === 0
    ? 'No candidates yet. Bring one: holdfast learnings candidates create TEXT --kind fact'
    : rows.map(showCandidate).join('\n')
export const showLearnings = (rows: ShownLearning[]): string =>
  rows.length === 0 ? 'Nothing is learned yet.' : rows.map(showLearning).join('\n')
export const showRevoked = (rows: ShownLearning[]): string =>
  rows.length === 0
    ? 'Nothing fits that is not revoked.'
    : `${count(rows.length, 'learning')} revoked. Some may be left: give the same line again until nothing fits.`

/** A learning after a line that may have found it as it was. */
export const showPublished = (one: ShownLearning): string =>
  one.not_as_said === true
    ? `${showLearning(one)}\n  It was there already, and what the line says otherwise was not done. To change it: ` +
      `${commandLine('learnings supersede', one.learning_id)} TEXT`
    : showLearning(one)

/** The answer, marked where it is not what was asked for. */
export const marked = (answer: Json, said: JsonObject): Json => {
  if (!isJsonObject(answer)) return answer
  const compared = ['content', 'kind', 'sensitivity', 'confidence', 'publish_tier', 'supersedes', 'expires_at_ms']
  const plain = (value: Json | undefined): Json | undefined => (typeof value === 'string' ? value.trim() : value)
  const differs = compared.some((name) => said[name] !== undefined && plain(said[name]) !== plain(answer[name]))
  return differs ? { ...answer, not_as_said: true } : answer
}

const sharedLines = ({ content, sensitivity, source, evidence_refs = [], expires_at_ms }: Shared): string[] => [
  visibleBlock(content, 2),
  ...(sensitivity === 'sensitive' ? ['sensitive: no model is told it'] : []),
  ...(source?.run_id === undefined ? [] : [`from ${commandLine('runs get', source.run_id)}`]),
  ...(source?.session_id === undefined ? [] : [`of the session ${visibleLine(source.session_id)}`]),
  ...evidence_refs.map(({ run_id, artifact_id, note }) =>
    visibleLine(`evidence: ${[run_id, artifact_id, note].filter((text) => text !== undefined).join(', ')}`),
  ),
  ...(expires_at_ms === undefined ? [] : [`until ${showTime(expires_at_ms)}`]),
]
const stacked = (head: string, lines: readonly string[]): string => [head, ...lines].join('\n  ')

export const showWholeCandidate = (one: ShownCandidate): string => {
  const { candidate_id, state, origin, automation_review: judged, published_learning_id } = one
  const isOpen = state === 'pending' || state === 'escalated'
  return stacked(headOf(candidate_id, state, one), [
    ...sharedLines(one),
    ...(origin === undefined ? [] : [`brought by ${origin === 'daemon' ? 'the daemon' : 'a caller'}`]),
    ...(judged === undefined ? [] : [visibleLine(`${judged.mode}: ${judged.action}. ${judged.reason}`)]),
    ...(published_learning_id === undefined ? [] : [`became ${commandLine('learnings get', published_learning_id)}`]),
    ...(isOpen ? decide(candidate_id) : []),
  ])
}

export const showWholeLearning = (one: ShownLearning): string => {
  const { learning_id, status, policy_decision, policy_actor, verification_status, revoked_reason } = one
  const { supersedes, superseded_by, source_candidate_id } = one
  const decided = policy_decision === undefined ? [] : [`decided: ${policy_decision} by ${policy_actor ?? 'nobody'}`]
  return stacked(headOf(learning_id, status, one), [
    ...sharedLines(one),
    ...decided.map((text) => visibleLine(`${text}, ${verification_status ?? ''}`)),
    ...(source_candidate_id === undefined ? [] : [visibleLine(`published from ${source_candidate_id}`)]),
    ...(supersedes === undefined ? [] : [visibleLine(`in the place of ${supersedes}`)]),
    ...(superseded_by === undefined ? [] : [visibleLine(`superseded by ${superseded_by}`)]),
    ...(revoked_reason === undefined ? [] : [visibleLine(`revoked: ${revoked_reason}`)]),
    ...(status === 'active' || status === 'provisional' ? [commandLine('learnings revoke', learning_id)] : []),
  ])
}

const Asking = open({ enabled: boolean() })
export const PolicyAnswer = open({
  mode: string(),
  capture: open({ run_summary_candidates: boolean(), semantic_candidates: Asking }),
  publication: open({
    default_action: string(),
    quarantined_rule_names: array(string()),
    rules: array(jsonObject()),
  }),
  judge: Asking,
})

const yes = (is: boolean): string => (is ? 'on' : 'off')
const filtersOf = (rule: JsonObject): string => {
  const said = Object.entries(rule)
    .filter(([name, value]) => name !== 'name' && name !== 'action' && value !== false)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  return said.length === 0 ? '' : ` (${said.join(', ')})`
}

export const showPolicy = ({ mode, capture, publication, judge }: Infer<typeof PolicyAnswer>): string => {
  const { run_summary_candidates: summaries, semantic_candidates: semantic } = capture
  const { default_action, quarantined_rule_names: aside, rules } = publication
  return [
    visibleLine(`mode ${mode}`),
    `summaries of runs ${yes(summaries)}, what runs teach ${yes(semantic.enabled)}`,
    `judge ${yes(judge.enabled)}`,
    ...rules.map((rule) => visibleLine(`rule ${String(rule['name'])}: ${String(rule['action'])}${filtersOf(rule)}`)),
    visibleLine(`else ${default_action}`),
    ...(aside.length === 0 ? [] : [visibleLine(`set aside: ${aside.join(', ')}`)]),
    'All of it: holdfast runtime learning-policy get --output json',
  ].join('\n')
}
