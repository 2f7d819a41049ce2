/** What says the same, and what says otherwise. */
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { answerOf, bring, byHand, learningsLender, publish } from '../../../support/learnings.js'
import { codeOf } from '../../../support/runs.js'

test('learnings-15, learnings-16: what is published beside a learning', async (t) => {
  const clock = { ...createClock(), now: () => now }
  let now = 1_800_000_000_000
  const daemon = await startTestDaemon(t, { clock, config: byHand })
  const session = { kind: 'session', id: 's1' }
  const first = { content: 'The window is Friday.' }
  type Case = readonly [
    before: { readonly ends_in_ms?: number; readonly [name: string]: unknown },
    wish: object,
    content: string,
    more: object,
    answer: 'same' | 'new' | 'conflict',
  ]
  const cases: readonly Case[] = [
    [{}, {}, 'the window  is "friday"', {}, 'same'],
    [{}, {}, 'La window est friday', {}, 'same'],
    [{}, {}, 'Window: Friday', { publish_tier: 'provisional' }, 'same'],
    [{}, {}, 'The window is Monday.', {}, 'conflict'],
    [{}, {}, 'Window = Monday', { sensitivity: 'sensitive' }, 'conflict'],
    [{}, {}, 'The window is Monday.', { publish_tier: 'provisional' }, 'new'],
    [{}, {}, 'The window is Monday.', { kind: 'decision' }, 'new'],
    [{}, {}, 'The window is Friday.', { kind: 'decision' }, 'new'],
    [{}, {}, 'The window is Monday.', { scope: session }, 'new'],
    [{}, {}, 'The window is Friday.', { scope: session }, 'new'],
    [{}, {}, 'The door is Monday.', {}, 'new'],
    [{}, {}, 'Window Friday', {}, 'new'],
    [{}, { publish_tier: 'provisional' }, 'The window is Friday.', {}, 'new'],
    [{}, { publish_tier: 'provisional' }, 'The window is Monday.', {}, 'new'],
    [{ sensitivity: 'sensitive' }, {}, 'The window is Friday.', {}, 'new'],
    [{ sensitivity: 'sensitive' }, {}, 'The window is Monday.', {}, 'new'],
    [{ kind: 'procedure' }, {}, 'The window is Friday!', { kind: 'procedure' }, 'same'],
    [{ kind: 'procedure' }, {}, 'The window is Monday.', { kind: 'procedure' }, 'new'],
    [{ ends_in_ms: 1_000 }, {}, 'The window is Friday.', {}, 'same'],
    [{ ends_in_ms: 5 }, {}, 'The window is Friday.', {}, 'new'],
    [{ ends_in_ms: 5 }, {}, 'The window is Monday.', {}, 'new'],
  ]
  for (const [before, wish, content, more, result] of cases) {
    const what = JSON.stringify([before, wish, content, more])
    const { ends_in_ms, ...said } = before
    const end = ends_in_ms === undefined ? {} : { expires_at_ms: now + ends_in_ms }
    const known = await publish(daemon, { ...first, ...said, ...end }, wish)
    now += 5
    const candidate = await bring(daemon, { content })
    const { status, body } = await answerOf(daemon, candidate, more)
    if (result === 'conflict') {
      t.deepEqual([status, body.code], [409, 'learning_conflict'], what)
      t.true(body.detail.includes(known.learning_id), what)
      t.is((await daemon.request('GET', `/v1/learning-candidates/${candidate.candidate_id}`)).body.state, 'pending')
    } else {
      t.is(status, 200, what)
      t.is(body.learning_id === known.learning_id, result === 'same', what)
      const { published_learning_id } = (
        await daemon.request('GET', `/v1/learning-candidates/${candidate.candidate_id}`)
      ).body
      t.is(published_learning_id, body.learning_id)
    }
    for (const { learning_id } of (await daemon.request('GET', '/v1/learnings')).body)
      await daemon.request('POST', `/v1/learnings/${learning_id}/revoke`)
    now += 10
  }
})

test('learnings-17: a learning that stands for another is active, of its scope, and each names the other', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const { request } = daemon
  const friday = await publish(daemon, { content: 'The window is Friday.' })
  const door = await publish(daemon, { content: 'The door is red.' })
  const wish = { supersedes: friday.learning_id }
  const monday = await bring(daemon, { content: 'The window is Monday.' })
  const scope = { kind: 'session', id: 's1' }
  for (const [more, status, code] of [
    [{ publish_tier: 'provisional' }, 400, 'invalid_learning'],
    [{ scope }, 409, 'learning_scope_mismatch'],
    [{ supersedes: 'none' }, 404, 'learning_not_found'],
    [{ content: 'The door is blue.' }, 409, 'learning_conflict'],
  ] as const)
    t.deepEqual(codeOf(await answerOf(daemon, monday, { ...wish, ...more })), [status, code])
  t.deepEqual((await request('GET', `/v1/learnings/${friday.learning_id}`)).body, friday)
  const { body } = await answerOf(daemon, monday, wish)
  t.like(body, { supersedes: friday.learning_id, status: 'active' })
  const ended = (await request('GET', `/v1/learnings/${friday.learning_id}`)).body
  t.deepEqual(ended, { ...friday, status: 'superseded', superseded_by: body.learning_id })
  const again = await answerOf(daemon, await bring(daemon, { content: 'Window: Monday' }), wish)
  t.is(again.body.learning_id, body.learning_id)
  const other = await answerOf(daemon, await bring(daemon, { content: 'The window is Sunday.' }), wish)
  t.deepEqual(codeOf(other), [409, 'learning_superseded'])
  const third = await request('POST', `/v1/learnings/${body.learning_id}/supersede`, { content: 'Door: blue' })
  t.deepEqual(codeOf(third), [409, 'learning_conflict'])
  const merged = await request('POST', `/v1/learnings/${body.learning_id}/supersede`, { content: 'Door: red' })
  t.deepEqual(merged.body, door)
  t.like((await request('GET', `/v1/learnings/${body.learning_id}`)).body, { superseded_by: door.learning_id })
})

test('learnings-16: the daemon is told of what says otherwise, and publishes nothing against it', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const friday = await publish(daemon, { content: 'The window is Friday.' })
  const of = (content: string) =>
    lent.learnings().conflict({ scope: { kind: 'workspace', id: 'default' }, kind: 'fact', content })
  t.deepEqual(of('Window: Monday'), friday)
  for (const content of ['The window is Friday', 'The door is Monday', 'Nothing here']) t.is(of(content), undefined)
  const candidate = await bring(daemon, { content: 'The window is Monday.' })
  const act = (tier: 'active' | 'provisional') => lent.commit((tx) => lent.learnings().publish(tx, candidate, { tier }))
  await t.throwsAsync(act('active'), { message: /says something else of the same/u })
  t.like(await act('provisional'), { status: 'provisional' })
})

test('learnings-24: a scope has room for so many that hold', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const scope = { kind: 'workspace', id: 'default' } as const
  const first = await publish(daemon, { content: 'The window is Friday.' })
  const most = 10_000
  const { learnings } = lent.learnings()
  await lent.commit((tx) => {
    tx.put(learnings, { ...first, expires_at_ms: 5 })
    for (let n = 0; n < most; n += 1) tx.put(learnings, { ...first, learning_id: `l${n}`, content: `Number ${n}` })
  })
  t.true(lent.learnings().isFull(scope))
  const candidate = await bring(daemon, { content: 'The door is red.' })
  t.deepEqual(codeOf(await answerOf(daemon, candidate)), [409, 'learnings_full'])
  t.is((await answerOf(daemon, candidate, { supersedes: 'l0' })).status, 200)
  await daemon.request('POST', `/v1/learnings/l1/revoke`)
  t.false(lent.learnings().isFull(scope))
  t.is((await answerOf(daemon, await bring(daemon, { content: 'The roof is red.' }))).status, 200)
  t.true(lent.learnings().isFull(scope))
})
