import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { bring, learningsLender, publish } from '../../../support/learnings.js'
import {
  candidate,
  candidatesOf,
  candidatesPath,
  draftOf,
  learningOf,
  learningsPath,
  remember,
  reviewed,
  setPolicy,
} from '../../../support/learning-review.js'
import { eventually } from '../../../support/mcp.js'
import { startMortal } from '../../../support/mortal.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

const byScope = ['manual_review', 'reject', 'publish_provisional'].map((action) => ({
  name: `rule ${action}`,
  scope_id: action,
  action,
}))
const publication = { rules: byScope }
const scope = (id: string) => ({ kind: 'session', id })

test('learning-review-10, learning-review-5: what a mode makes of each action is one commit with its review', async (t) => {
  const daemon = await startTestDaemon(t)
  const table = {
    shadow: { manual_review: 'pending', reject: 'pending', publish_provisional: 'pending' },
    enabled: { manual_review: 'escalated', reject: 'rejected', publish_provisional: 'published' },
  } as const
  for (const [mode, states] of Object.entries(table)) {
    await setPolicy(daemon, { mode, publication })
    for (const [action, state] of Object.entries(states)) {
      const one = await bring(daemon, { scope: scope(action), content: `Fact of ${mode} ${action}` })
      const found = await reviewed(daemon, one)
      t.like(found, {
        state,
        automation_review: {
          mode,
          action,
          matched_rule_name: `rule ${action}`,
          reason: `The rule "rule ${action}" matches.`,
        },
      })
      t.true(found.automation_review.reviewed_at_ms >= found.created_at_ms)
      t.is(found.automation_review.judge, undefined)
      t.is(found.published_learning_id !== undefined, state === 'published')
      if (state === 'published')
        t.like(await learningOf(daemon, found), {
          status: 'provisional',
          policy_decision: 'automatic',
          policy_actor: 'daemon',
          verification_status: 'unverified',
          source_candidate_id: one.candidate_id,
        })
    }
  }
  await eventually(async () => ((await candidatesOf(daemon, '&state=pending')).length === 0 ? true : undefined))
  t.is((await daemon.request('GET', learningsPath)).body.length, 2, 'what waited in shadow is decided too')
  await setPolicy(daemon, {
    mode: 'enabled',
    publication: { rules: [{ name: 'short', action: 'publish_provisional', expires_after_ms: 5_000 }] },
  })
  const short = await learningOf(daemon, await reviewed(daemon, await bring(daemon, { content: 'Short.' })))
  t.is(short.expires_at_ms, short.published_at_ms + 5_000)
})

test('learning-review-10, learning-review-11: by hand alone nothing is done, until that is changed', async (t) => {
  const daemon = await startTestDaemon(t)
  await setPolicy(daemon, { mode: 'manual_only', publication })
  const waiting = []
  for (const { scope_id } of byScope) waiting.push(await bring(daemon, { scope: scope(scope_id), content: scope_id }))
  const hand = await publish(daemon, { content: 'By hand.' })
  await setPolicy(daemon, { mode: 'shadow', publication })
  for (const one of waiting) t.like(await reviewed(daemon, one), { state: 'pending' })
  const before = await candidatesOf(daemon)
  await setPolicy(daemon, { mode: 'enabled', publication })
  await setPolicy(daemon, { mode: 'enabled', publication: { rules: [] } })
  const decided = await bring(daemon, { content: 'The last one.' })
  t.like(await reviewed(daemon, decided), { state: 'escalated', automation_review: { reason: 'No rule matches.' } })
  for (const one of waiting) t.not((await candidate(daemon, one)).state, 'pending')
  t.is(before.length, 4)
  const kept = await learningOf(daemon, { published_learning_id: hand.learning_id })
  t.deepEqual(kept, hand)
})

test('learning-review-11: what waits at a kill is decided once by the next start, however many there are', async (t) => {
  let daemon = await startMortal(t)
  await setPolicy(daemon, { mode: 'manual_only', publication })
  const all: any[] = []
  for (let n = 0; n < 70; n += 1)
    all.push(await bring(daemon, { scope: scope('publish_provisional'), content: `Number ${n}` }))
  await setPolicy(daemon, { mode: 'enabled', publication })
  await daemon.kill('SIGKILL')
  daemon = await startMortal(t, { root: daemon.root })
  const found = []
  for (const one of all) found.push(await reviewed(daemon, one))
  t.true(found.every(({ state }) => state === 'published'))
  const learnings: any[] = (await daemon.request('GET', `${learningsPath}?limit=500`)).body
  t.deepEqual(
    learnings.map(({ source_candidate_id }) => source_candidate_id).toSorted(),
    all.map(({ candidate_id }) => candidate_id).toSorted(),
  )
  await daemon.kill('SIGKILL')
  daemon = await startMortal(t, { root: daemon.root })
  t.deepEqual(await candidatesOf(daemon), found)
  t.deepEqual((await daemon.request('GET', `${learningsPath}?limit=500`)).body, learnings)
})

const activeRule = (kind: string) => ({ name: kind, kind, action: 'publish_active' })
const active = {
  mode: 'enabled',
  capture: { run_summary_candidates: false },
  publication: { allow_api_origin_active_publication: true, rules: ['fact', 'preference', 'decision'].map(activeRule) },
}

test('learning-review-6, learning-review-7, learning-review-8: active is what nothing contradicts and its run bears out', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins })
  await openSession(daemon)
  await setPolicy(daemon, active)
  const { run_id } = await submit(daemon, 's1', '/say The window is Friday.')
  await until(daemon, run_id, 'completed')
  await remember(daemon)
  const act = async (content: string, more: object = {}): Promise<any> => {
    const one = await lent.commit((tx) => lent.learnings().propose(tx, draftOf(run_id, content, more)))
    return reviewed(daemon, one)
  }
  const first = await act('The window is Friday.')
  t.like(first, { state: 'published', automation_review: { action: 'publish_active', matched_rule_name: 'fact' } })
  t.like(await learningOf(daemon, first), {
    status: 'active',
    publish_tier: 'active',
    policy_decision: 'automatic',
    policy_actor: 'daemon',
    verification_status: 'verified',
    evidence_refs: [{ run_id }],
  })
  const other = await act('window = Monday')
  t.like(other, { state: 'escalated', automation_review: { action: 'manual_review' } })
  t.regex(other.automation_review.reason, new RegExp(`${first.published_learning_id} says something else`, 'u'))
  for (const [content, more] of [
    ['The harbour is deep.', {}],
    ['Window on Friday', { evidence_refs: [] }],
    ['Friday, window', { source: { session_id: 's1' } }],
    ['A window of Friday', { evidence_refs: [{ run_id: 'other' }] }],
  ] as const) {
    const found = await act(content, more)
    t.like(found, { state: 'published', automation_review: { action: 'publish_provisional' } }, content)
    t.like(await learningOf(daemon, found), { status: 'provisional', verification_status: 'unverified' })
  }
  const said = await act('Friday is the window', { kind: 'decision' })
  t.like(await learningOf(daemon, said), { status: 'active' })
  const byCaller = await bring(daemon, { content: 'Say: window Friday', source: { run_id, session_id: 's1' } })
  t.is((await reviewed(daemon, byCaller)).automation_review.action, 'publish_provisional', 'memory is not for callers')
})

test('learning-review-8: what a run only answered does not bear out what was taken from it', async (t) => {
  const lent = learningsLender()
  const model = scriptedProvider(() => [text('The window is Friday.'), done()])
  const daemon = await startTestDaemon(t, { plugins: [...lent.plugins, model.plugin], config: model.config })
  await openSession(daemon)
  await setPolicy(daemon, active)
  const { run_id } = await submit(daemon, 's1', 'On Sunday the harbour is quiet.')
  await until(daemon, run_id, 'completed')
  await remember(daemon)
  const act = async (content: string): Promise<string> =>
    (await reviewed(daemon, await lent.commit((tx) => lent.learnings().propose(tx, draftOf(run_id, content)))))
      .automation_review.action
  t.is(await act('The window is Friday.'), 'publish_provisional')
  t.is(await act('The harbour is quiet on Sunday.'), 'publish_active')
})

test('learning-review-9: evidence that a candidate names bears it out, for callers too', async (t) => {
  const daemon = await startTestDaemon(t, { config: { debug: { debug_level: 'full' } } })
  await openSession(daemon)
  await setPolicy(daemon, active)
  const { run_id } = await submit(daemon, 's1', '/say They call it "Nord".')
  await until(daemon, run_id, 'completed')
  const { artifacts } = (await daemon.request('GET', `/v1/runs/${run_id}/debug`)).body
  const evidence_refs = [{ run_id, artifact_id: artifacts[0].artifact_id }]
  const act = async (content: string, more: object = {}): Promise<string> =>
    (await reviewed(daemon, await bring(daemon, { content, source: { run_id }, evidence_refs, ...more })))
      .automation_review.action
  t.is(await act('They call it "Nord".'), 'publish_active')
  t.is(await act('They call it "Süd".'), 'publish_provisional')
  t.is(await act('They call it', { evidence_refs: [{ run_id, artifact_id: 'none' }] }), 'publish_provisional')
  t.is(await act('call it', { source: { run_id: 'none' } }), 'publish_provisional')
})

test('learning-review-3: a secret that was kept before it could be known is rejected without a rule', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins })
  await setPolicy(daemon, { mode: 'manual_only' })
  const one = await bring(daemon, { content: 'The word is Correct-Horse-Battery.' })
  lent.guardSecret('Correct-Horse-Battery')
  await setPolicy(daemon, { mode: 'enabled', publication: { rules: [{ name: 'all', action: 'publish_provisional' }] } })
  const found = await reviewed(daemon, one)
  t.like(found, {
    state: 'rejected',
    automation_review: { action: 'reject', reason: 'Its content looks like a secret.' },
  })
  t.is(found.automation_review.matched_rule_name, undefined)
  t.is((await daemon.request('POST', `${candidatesPath}/${one.candidate_id}/publish`, {})).status, 409)
})
