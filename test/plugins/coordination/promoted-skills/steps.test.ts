import test from 'ava'
import {
  noEvidence,
  rolloutStatuses,
  skillStatuses,
  type Evidence,
} from '../../../../plugins/coordination/promoted-skills/record.js'
import { isVerified, promotionStep } from '../../../../plugins/coordination/promoted-skills/steps.js'

const verified: Evidence = {
  ...noEvidence,
  verification_status: 'verified',
  real_daemon_verified: true,
  successful_run_count: 1,
  distinct_session_count: 1,
  verifier_run_ids: ['run_1'],
}
const proven: Evidence = { ...verified, canary_success_count: 1 }
const stages = { none: noEvidence, verified, proven, broken: { ...proven, canary_failure_count: 1 } }
type Stage = keyof typeof stages

/** Of each way what happens with no evidence, with a verification, with a canary too, and with a canary that failed. */
const table: Readonly<Record<string, readonly string[]>> = {
  'new draft': ['ok', 'ok', 'ok', 'ok'],
  'new verified': ['no_draft', 'no_draft', 'no_draft', 'no_draft'],
  'new canary': ['no_draft', 'no_draft', 'no_draft', 'no_draft'],
  'new active': ['no_draft', 'no_draft', 'no_draft', 'no_draft'],
  'draft draft': ['ok', 'ok', 'ok', 'ok'],
  'draft verified': ['unverified', 'ok', 'ok', 'ok'],
  'draft canary': ['no_step', 'no_step', 'no_step', 'no_step'],
  'draft active': ['no_step', 'no_step', 'no_step', 'no_step'],
  'verified draft': ['reset', 'reset', 'reset', 'reset'],
  'verified verified': ['unverified', 'ok', 'ok', 'ok'],
  'verified canary': ['unverified', 'ok', 'ok', 'ok'],
  'verified active': ['unverified', 'no_canary', 'ok', 'no_canary'],
  'canary draft': ['reset', 'reset', 'reset', 'reset'],
  'canary verified': ['no_step', 'no_step', 'no_step', 'no_step'],
  'canary canary': ['unverified', 'ok', 'ok', 'ok'],
  'canary active': ['unverified', 'no_canary', 'ok', 'no_canary'],
  'active draft': ['no_step', 'no_step', 'no_step', 'no_step'],
  'active verified': ['no_step', 'no_step', 'no_step', 'no_step'],
  'active canary': ['no_step', 'no_step', 'no_step', 'no_step'],
  'active active': ['unverified', 'no_canary', 'ok', 'no_canary'],
  'revoked draft': ['ok', 'ok', 'ok', 'ok'],
  'revoked verified': ['no_draft', 'no_draft', 'no_draft', 'no_draft'],
  'revoked canary': ['no_draft', 'no_draft', 'no_draft', 'no_draft'],
  'revoked active': ['no_draft', 'no_draft', 'no_draft', 'no_draft'],
}
const names: readonly Stage[] = ['none', 'verified', 'proven', 'broken']
const froms = ['new', ...skillStatuses] as const
const ways = froms.flatMap((from) => rolloutStatuses.map((to) => ({ from, to })))

const told = (step: ReturnType<typeof promotionStep>): string => (step.ok ? (step.resets ? 'reset' : 'ok') : step.why)

test('promoted-skills-8, promoted-skills-9: from every status to every other with every evidence', (t) => {
  t.deepEqual(ways.map(({ from, to }) => `${from} ${to}`).toSorted(), Object.keys(table).toSorted())
  for (const { from, to } of ways) {
    const found = names.map((stage) => told(promotionStep({ from, to, isChanged: false, evidence: stages[stage] })))
    t.deepEqual(found, table[`${from} ${to}`], `${from} ${to}`)
  }
})

test('promoted-skills-10, promoted-skills-11: another definition begins without evidence, and is never that of an active one', (t) => {
  for (const { from, to } of ways.filter(({ from }) => !['new', 'revoked'].includes(from))) {
    const step = promotionStep({ from, to, isChanged: true, evidence: proven })
    const reach = table[`${from} ${to}`]?.[2]
    const expected =
      from === 'active'
        ? 'active_definition'
        : reach === 'no_step'
          ? 'no_step'
          : to === 'draft'
            ? 'reset'
            : 'unverified'
    t.is(told(step), expected, `${from} ${to}`)
    if (step.ok) t.deepEqual(step.evidence, noEvidence)
  }
  for (const from of ['new', 'revoked'] as const)
    t.deepEqual(promotionStep({ from, to: 'draft', isChanged: false, evidence: proven }), {
      ok: true,
      evidence: noEvidence,
      resets: false,
    })
})

test('promoted-skills-9: each part of a verification counts', (t) => {
  t.true(isVerified(verified))
  const parts: readonly Partial<Evidence>[] = [
    { verification_status: 'unverified' },
    { real_daemon_verified: false },
    { successful_run_count: 0 },
    { verifier_run_ids: [] },
  ]
  for (const part of parts) t.false(isVerified({ ...verified, ...part }), JSON.stringify(part))
})
