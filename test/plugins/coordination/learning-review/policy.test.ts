import test from 'ava'
import {
  endOf,
  evaluate,
  type Action,
  type Question,
} from '../../../../plugins/coordination/learning-review/evaluate.js'
import type { LearningPolicy } from '../../../../plugins/coordination/learnings/contract.js'

type Rule = LearningPolicy['publication']['rules'][number]
type Candidate = Question['candidate']

const candidate: Candidate = {
  scope: { kind: 'session', id: 's1' },
  kind: 'fact',
  sensitivity: 'scoped',
  confidence: 80,
  origin: 'daemon',
  source: { run_id: 'r1', session_id: 's1' },
  evidence_refs: [{ run_id: 'r1' }],
}
const rule = (more: Partial<Rule> = {}): Rule => ({
  name: 'a rule',
  require_evidence: false,
  require_source_run: false,
  require_source_session: false,
  action: 'publish_provisional',
  ...more,
})
const publication = (rules: readonly Rule[], more: Partial<LearningPolicy['publication']> = {}) => ({
  default_action: 'manual_review' as const,
  allow_api_origin_active_publication: false,
  quarantined_rule_names: [],
  rules: [...rules],
  ...more,
})
const decide = (
  rules: readonly Rule[],
  of: Partial<Candidate> = {},
  more: Partial<LearningPolicy['publication']> & { isSecret?: boolean } = {},
) => {
  const { isSecret = false, ...rest } = more
  return evaluate({ candidate: { ...candidate, ...of }, publication: publication(rules, rest), isSecret })
}

test('learning-review-1: each filter of a rule keeps it from what does not fit, and from nothing else', (t) => {
  const filters: readonly (readonly [Partial<Rule>, Partial<Candidate>])[] = [
    [{ scope_kind: 'session' }, { scope: { kind: 'persona', id: 's1' } }],
    [{ scope_id: 's1' }, { scope: { kind: 'session', id: 's2' } }],
    [{ kind: 'fact' }, { kind: 'decision' }],
    [{ sensitivity: 'scoped' }, { sensitivity: 'sensitive' }],
    [{ min_confidence: 80 }, { confidence: 79 }],
    [{ require_evidence: true }, { evidence_refs: [] }],
    [{ require_evidence: true }, { evidence_refs: undefined }],
    [{ require_source_run: true }, { source: { session_id: 's1' } }],
    [{ require_source_run: true }, { source: { run_id: ' ', session_id: 's1' } }],
    [{ require_source_session: true }, { source: { run_id: 'r1' } }],
  ]
  for (const [filter, other] of filters) {
    t.is(decide([rule(filter)]).action, 'publish_provisional', JSON.stringify(filter))
    t.is(decide([rule(filter)], other).action, 'manual_review', JSON.stringify([filter, other]))
    t.is(decide([rule()], other).action, 'publish_provisional', JSON.stringify(other))
  }
})

test('learning-review-1: what a caller says of where a candidate comes from fits no rule that asks for it', (t) => {
  for (const name of ['require_evidence', 'require_source_run', 'require_source_session'] as const) {
    t.is(decide([rule({ [name]: true })]).action, 'publish_provisional', name)
    t.is(decide([rule({ [name]: true })], { origin: 'api' }).action, 'manual_review', name)
  }
  t.is(decide([rule()], { origin: 'api' }).action, 'publish_provisional')
})

test('learning-review-2: the first rule that fits and is not set aside counts, else what holds without one', (t) => {
  const first = rule({ name: 'first', action: 'reject' })
  const second = rule({ name: 'Second ', action: 'publish_provisional' })
  const other = rule({ name: 'other', kind: 'decision', action: 'reject' })
  t.like(decide([first, second]), { action: 'reject', matched_rule_name: 'first' })
  t.like(decide([second, first]), { action: 'publish_provisional', matched_rule_name: 'Second ' })
  t.like(decide([other, second]), { action: 'publish_provisional', matched_rule_name: 'Second ' })
  t.like(decide([first, second], {}, { quarantined_rule_names: [' FIRST '] }), { matched_rule_name: 'Second ' })
  const none = { quarantined_rule_names: ['first', 'second'] }
  for (const default_action of ['manual_review', 'reject', 'publish_provisional'] as const) {
    const found = decide([first, second], {}, { ...none, default_action })
    t.deepEqual(found, { action: default_action, reason: 'No rule matches.' })
  }
})

test('learning-review-3: what looks like a secret is rejected before any rule, where a learning says something', (t) => {
  const all = [rule({ action: 'publish_active', kind: 'fact' })]
  for (const kind of ['fact', 'preference', 'decision'] as const)
    t.deepEqual(decide(all, { kind }, { isSecret: true }), {
      action: 'reject',
      reason: 'Its content looks like a secret.',
    })
  for (const kind of ['procedure', 'run_summary'] as const)
    t.is(decide([rule()], { kind }, { isSecret: true }).action, 'publish_provisional')
})

test('learning-review-4: no procedure becomes active, and what the API brings only where that is allowed', (t) => {
  const active = rule({ name: 'all', action: 'publish_active' })
  const table: readonly (readonly [Partial<Candidate>, boolean, Action])[] = [
    [{}, false, 'publish_active'],
    [{ origin: 'api' }, false, 'publish_provisional'],
    [{ origin: 'api' }, true, 'publish_active'],
    [{ kind: 'procedure' }, true, 'manual_review'],
    [{ kind: 'procedure', origin: 'api' }, true, 'manual_review'],
    [{ kind: 'procedure', origin: 'api' }, false, 'manual_review'],
  ]
  for (const [of, allow_api_origin_active_publication, action] of table) {
    const found = decide([active], of, { allow_api_origin_active_publication })
    t.like(found, { action, matched_rule_name: 'all' }, JSON.stringify(of))
  }
})

test('learning-review-5: a learning ends when the first of two ends', (t) => {
  const table: readonly (readonly [number | undefined, number | undefined, number | undefined])[] = [
    [undefined, undefined, undefined],
    [500, undefined, 500],
    [undefined, 100, 1100],
    [1050, 100, 1050],
    [2000, 100, 1100],
    [undefined, Number.MAX_SAFE_INTEGER, 8.64e15],
  ]
  for (const [expires_at_ms, after, end] of table)
    t.is(endOf(expires_at_ms === undefined ? {} : { expires_at_ms }, after, 1000), end)
  t.is(decide([rule({ expires_after_ms: 7 })]).expires_after_ms, 7)
  t.is(decide([rule()]).expires_after_ms, undefined)
})
