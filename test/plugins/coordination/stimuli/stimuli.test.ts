/** What is said in channels by itself, over HTTP. */
import test from 'ava'
import { stimulusKinds } from '../../../../plugins/coordination/stimuli/contract.js'
import { gateOf } from '../../../../plugins/coordination/stimuli/dispatch.js'
import type { JsonObject } from '../../../../core/plugin.js'
import type { Reachable } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'
import { channel, handsOf, open, startTalk } from './talk.js'

test('stimuli-1, stimuli-2: a stimulus waits until its time and becomes a message, with all that it says', async (t) => {
  const daemon = await startTalk(t)
  const said = {
    content: ' The bakery opens at six. ',
    sender_session_id: 'A',
    source_kind: 'look',
    source_ref: 'map-1',
    dedupe_key: 'bakery',
    progress_key: 'p',
    metadata: { n: 1 },
    addressed_member_ids: ['B', 'B'],
  }
  const { status, body } = await daemon.say(said)
  t.is(status, 201)
  t.like(body, {
    state: 'pending',
    scope: 'channel',
    kind: 'agent_idea',
    visibility_hint: 'auto',
    content: 'The bakery opens at six.',
  })
  t.true(body.available_at_ms >= body.created_at_ms)
  const over = await daemon.over(body.stimulus_id)
  t.like(over, { state: 'dispatched', addressed_member_ids: ['B'], source_ref: 'map-1', metadata: { n: 1 } })
  t.true(over.dispatched_at_ms >= over.created_at_ms)
  const [message] = await daemon.messages()
  t.is(over.message_id, message.message_id)
  t.like(message, {
    sender: { id: 'A', display_name: 'Alder' },
    sender_session_id: 'A',
    output: { content: 'The bakery opens at six.' },
    addressed_member_ids: ['B'],
  })
  t.deepEqual(message.metadata, {
    source_kind: 'channel_stimulus',
    stimulus_id: body.stimulus_id,
    stimulus_kind: 'agent_idea',
    source_ref: 'map-1',
    progress_key: 'p',
    presentation: 'main',
  })
  const later = (await daemon.say({ content: 'Later.', available_at_ms: Date.now() + 3_600_000 })).body
  t.is((await daemon.stimuli(`?state=pending`))[0].stimulus_id, later.stimulus_id)
  t.is((await daemon.stimuli('?limit=1'))[0].stimulus_id, later.stimulus_id)
  t.is((await daemon.stimuli(`?before=${later.stimulus_id}`))[0].stimulus_id, body.stimulus_id)
  t.like(await daemon.metrics(), {
    pending_stimulus_count: 1,
    claimed_stimulus_count: 0,
    recent_autonomous_root_posts_1h: 1,
  })
})

test('stimuli-3: every kind is taken, and one in its other spelling too', async (t) => {
  const daemon = await startTalk(t)
  const given = []
  for (const kind of [...stimulusKinds, 'thread_idle_follow_up'])
    given.push((await daemon.say({ kind, content: kind })).body.kind)
  t.deepEqual(given, [...stimulusKinds, 'thread_idle_followup'])
})

const joins = async (daemon: Pick<Reachable, 'request'>, member: JsonObject): Promise<void> => {
  const joined = { member_kind: 'session', display_name: 'Cedar', ...member }
  const { status } = await daemon.request('POST', `${channel}/members`, joined)
  if (status >= 300) throw new Error(`nobody joined: ${status}`)
}

test('stimuli-3: a session that left lends its name to nobody, whatever actor was named beside it', async (t) => {
  const daemon = await startTalk(t)
  const { body } = await daemon.say({
    sender_session_id: 'A',
    sender_actor_id: 'B',
    available_at_ms: Date.now() + 500,
  })
  t.is((await daemon.request('DELETE', `${channel}/members/A`)).status, 200)
  t.is((await daemon.over(body.stimulus_id)).state, 'dispatched')
  t.is((await daemon.messages())[0].sender.id, 'system')
})

test('stimuli-3: what cannot be is refused, and nothing is kept of it', async (t) => {
  const daemon = await startTalk(t)
  for (const session_id of ['C', 'elsewhere']) await daemon.request('POST', '/v1/sessions', { session_id })
  await joins(daemon, { member_id: 'm', session_id: 'C' })
  const root = (await daemon.post('Hello')).message_id
  const reply = (await daemon.post('Again', { thread_root_message_id: root })).message_id
  const refused: readonly [object, number, string][] = [
    [{ content: ' ' }, 400, 'channel_invalid_request'],
    [{ content: 'x'.repeat(16_385) }, 400, 'bad_request'],
    [{ kind: 'dream' }, 400, 'bad_request'],
    [{ scope: 'world' }, 400, 'bad_request'],
    [{ scope: 'thread' }, 400, 'channel_invalid_request'],
    [{ scope: 'channel', thread_root_message_id: root }, 400, 'channel_invalid_request'],
    [{ scope: 'thread', thread_root_message_id: reply }, 400, 'channel_invalid_request'],
    [{ scope: 'thread', thread_root_message_id: 'message_none' }, 404, 'channel_message_not_found'],
    [{ sender_session_id: 'stranger' }, 400, 'channel_invalid_request'],
    [{ sender_actor_id: 'A' }, 400, 'channel_invalid_request'],
    [{ sender_actor_id: 'elsewhere' }, 400, 'channel_invalid_request'],
    [{ sender_actor_id: 'm' }, 400, 'channel_invalid_request'],
    [{ sender_actor_id: 'C' }, 400, 'channel_invalid_request'],
    [{ addressed_member_ids: ['nobody'] }, 400, 'channel_invalid_request'],
    [{ source_ref: 'a\u001bb' }, 400, 'channel_invalid_request'],
    [{ metadata: { text: 'x'.repeat(65_536) } }, 400, 'bad_request'],
  ]
  for (const [body, status, code] of refused) {
    const answer = await daemon.say({ ...body })
    t.deepEqual(codeOf(answer), [status, code], JSON.stringify(body).slice(0, 100))
  }
  const unknown = await daemon.request('POST', '/v1/channels/none/stimuli', {
    scope: 'channel',
    kind: 'agent_idea',
    content: 'x',
  })
  t.is(unknown.status, 404)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/channels/none/thread-work')), [404, 'channel_not_found'])
  t.deepEqual(await daemon.stimuli(), [])
})

test('stimuli-4, stimuli-5: of those that wait, the newer one of the same stands for the older one', async (t) => {
  const daemon = await startTalk(t)
  const later = { available_at_ms: Date.now() + 3_600_000 }
  const say = async (body: object): Promise<any> => (await daemon.say({ ...later, ...body })).body
  const states = async (): Promise<string[]> =>
    (await daemon.stimuli()).map(({ content, state }) => `${content}: ${state}`)
  await say({ content: 'a', progress_key: 'k', dedupe_key: 'x' })
  await say({ content: 'b', progress_key: 'k', dedupe_key: 'y' })
  await say({ content: 'c', dedupe_key: 'y' })
  await say({ content: 'd', progress_key: 'other', dedupe_key: 'y' })
  await say({ content: 'e' })
  await say({ content: 'e', source_ref: 's' })
  await say({ content: 'e', visibility_hint: 'main' })
  t.deepEqual(await states(), [
    'a: superseded',
    'b: superseded',
    'c: superseded',
    'd: pending',
    'e: superseded',
    'e: pending',
    'e: pending',
  ])
  const same = await say({ content: 'e', visibility_hint: 'main' })
  t.is(same.state, 'coalesced')
  t.is((await daemon.stimuli('?state=pending')).length, 3)
  t.is((await daemon.metrics()).suppressed_stimulus_count, 5)
})

test('stimuli-5: one that is equal but for its times stands in the place of the one that waits', async (t) => {
  const daemon = await startTalk(t)
  const hour = 3_600_000
  const later = { available_at_ms: Date.now() + hour }
  const states = async () => (await daemon.stimuli()).map(({ state }) => state)
  await daemon.say(later)
  t.is((await daemon.say(later)).body.state, 'coalesced')
  await daemon.say({ available_at_ms: later.available_at_ms + hour })
  t.deepEqual(await states(), ['superseded', 'coalesced', 'pending'])
  await daemon.say({ ...later, expires_at_ms: Date.now() + 2 * hour })
  const now = (await daemon.say()).body
  t.is((await daemon.over(now.stimulus_id)).state, 'dispatched', 'what is meant for now waits behind nothing')
  t.deepEqual(await states(), ['superseded', 'coalesced', 'superseded', 'superseded', 'dispatched'])
})

test('stimuli-6: no more wait than the policy lets, and one that takes the place of another needs no room', async (t) => {
  const daemon = await startTalk(t, { policy: { ...open, max_pending_stimuli: 2 } })
  const later = { available_at_ms: Date.now() + 3_600_000 }
  t.is((await daemon.say({ ...later, content: '1', dedupe_key: 'k' })).status, 201)
  t.is((await daemon.say({ ...later, content: '2' })).status, 201)
  const full = await daemon.say({ ...later, content: '3' })
  t.deepEqual(codeOf(full), [409, 'channel_stimuli_full'])
  t.is((await daemon.say({ ...later, content: '4', dedupe_key: 'k' })).status, 201)
  t.is((await daemon.stimuli()).length, 3)
})

test('stimuli-7: one that expired is cancelled, and one of a paused channel waits until it goes on', async (t) => {
  const daemon = await startTalk(t)
  const late = (await daemon.say({ content: 'late', expires_at_ms: 1 })).body
  t.like(await daemon.over(late.stimulus_id), { state: 'cancelled', last_error: 'it expired' })
  await daemon.change({ paused: true })
  const paused = (await daemon.say({ content: 'paused' })).body
  const held = await daemon.held(paused.stimulus_id)
  t.like(held, { state: 'pending', last_error: 'the channel is paused' })
  t.true(held.available_at_ms >= held.created_at_ms + 500)
  await daemon.change({ paused: false })
  t.is((await daemon.over(paused.stimulus_id)).state, 'dispatched')
  t.deepEqual(
    (await daemon.messages()).map(({ output }) => output.content),
    ['paused'],
  )
})

test('stimuli-7: one that expires in a paused channel is cancelled, and takes no room', async (t) => {
  const daemon = await startTalk(t, { policy: { ...open, max_pending_stimuli: 1 } })
  await daemon.change({ paused: true })
  const late = (await daemon.say({ content: 'late', expires_at_ms: Date.now() + 200 })).body
  await daemon.held(late.stimulus_id)
  await daemon.eventually(
    async () => (await daemon.say({ content: 'next' })).status,
    (status) => status === 201,
  )
  t.like((await daemon.stimuli())[0], { state: 'cancelled', last_error: 'it expired' })
})

test('stimuli-8: it continues its thread, or the open one of the same key, or stands beside the subjects', async (t) => {
  const daemon = await startTalk(t)
  const first = (await daemon.say({ content: 'one', dedupe_key: 'k' })).body
  const root = (await daemon.over(first.stimulus_id)).message_id
  const second = (await daemon.say({ content: 'two', dedupe_key: 'k' })).body
  await daemon.over(second.stimulus_id)
  const third = (await daemon.say({ content: 'three', dedupe_key: 'k', visibility_hint: 'main' })).body
  await daemon.over(third.stimulus_id)
  const fourth = (
    await daemon.say({ content: 'four', scope: 'thread', thread_root_message_id: root, sender_actor_id: 'clock' })
  ).body
  await daemon.over(fourth.stimulus_id)
  const messages = await daemon.messages()
  t.deepEqual(
    messages.map(({ output, thread_root_message_id = '-', metadata, sender }) => [
      output.content,
      thread_root_message_id,
      metadata.presentation,
      metadata.canonical_thread_root_message_id ?? '-',
      sender.id,
    ]),
    [
      ['one', '-', 'main', '-', 'system'],
      ['two', root, 'thread', '-', 'system'],
      ['three', '-', 'main_summary', root, 'system'],
      ['four', root, 'thread', '-', 'clock'],
    ],
  )
  t.is(messages[0].sender.display_name, 'Holdfast')
  const [work] = await daemon.work(`?thread_root_message_id=${root}`)
  t.like(work, {
    topic_kind: 'autonomous_root',
    status: 'active',
    initiative_key: 'k',
    last_stimulus_id: fourth.stimulus_id,
  })
  t.is((await daemon.work()).length, 1)
})

test('stimuli-9: gates of new subjects: the quiet period first, then those that are open, then those of the hour', (t) => {
  const policy = {
    max_parallel_public_speakers: 1,
    max_agent_replies_per_human_message: 3,
    member_cooldown_ms: 0,
    lease_timeout_ms: 1,
    max_pending_stimuli: 1,
    max_autonomous_root_posts_per_hour: 4,
    max_active_autonomous_roots: 1,
    quiet_period_ms_after_root_post: 300,
  }
  const at = (promoted_at_ms: number | undefined, opened: number, lastHour: number) =>
    gateOf(policy, { now: 1000, promoted_at_ms, open: opened, lastHour })
  t.is(at(undefined, 0, 0), undefined)
  t.is(at(700, 0, 3), undefined)
  t.like(at(701, 1, 4), { state: 'pending', available_at_ms: 1001 })
  t.like(at(700, 1, 4), {
    state: 'cancelled',
    last_error: '1 subjects of stimuli are open, which is the most there may be',
  })
  t.like(at(undefined, 0, 4), {
    state: 'cancelled',
    last_error: '4 subjects were opened in the last hour, which is the most',
  })
})

test('stimuli-9: a second subject waits for the quiet period, and is cancelled where as many are open as may be', async (t) => {
  const daemon = await startTalk(t, {
    policy: { ...open, max_active_autonomous_roots: 1, quiet_period_ms_after_root_post: 60_000 },
  })
  const first = (await daemon.say({ content: 'one' })).body
  await daemon.over(first.stimulus_id)
  const second = (await daemon.say({ content: 'two' })).body
  t.like(await daemon.held(second.stimulus_id), { last_error: 'the quiet period is not over' })
  await daemon.change({ autonomy_policy: { ...open, max_active_autonomous_roots: 1 } })
  const other = (await daemon.say({ content: 'another' })).body
  t.like(await daemon.over(other.stimulus_id), { state: 'cancelled' })
  const root = (await daemon.over(first.stimulus_id)).message_id
  const closing = { kind: 'result_summary', content: 'done', scope: 'thread', thread_root_message_id: root }
  await daemon.over((await daemon.say(closing)).body.stimulus_id)
  t.is((await daemon.work())[0].status, 'completed')
  const third = (await daemon.say({ content: 'three' })).body
  t.is((await daemon.over(third.stimulus_id)).state, 'dispatched')
  t.is((await daemon.messages()).length, 3)
})

test('stimuli-9: a quiet period that was made shorter holds up nothing longer than that', async (t) => {
  const daemon = await startTalk(t, { policy: { ...open, quiet_period_ms_after_root_post: 3_600_000 } })
  await daemon.over((await daemon.say({ content: 'one' })).body.stimulus_id)
  const second = (await daemon.say({ content: 'two' })).body
  await daemon.held(second.stimulus_id)
  await daemon.change({ autonomy_policy: { ...open, quiet_period_ms_after_root_post: 100 } })
  t.is((await daemon.over(second.stimulus_id)).state, 'dispatched')
})

test('stimuli-10: what is exactly as one before has its message, and nothing is said twice', async (t) => {
  const daemon = await startTalk(t)
  const first = await daemon.over((await daemon.say()).body.stimulus_id)
  const again = await daemon.over((await daemon.say()).body.stimulus_id)
  t.deepEqual([again.state, again.message_id], ['dispatched', first.message_id])
  const other = await daemon.over((await daemon.say({ metadata: { n: 2 } })).body.stimulus_id)
  t.not(other.message_id, first.message_id)
  t.is((await daemon.messages()).length, 2)
})

test('stimuli-11: members are asked to answer, but not by a session, a summary or an end', async (t) => {
  const daemon = await startTalk(t)
  const runs = async (): Promise<string[]> =>
    (await daemon.request('GET', '/v1/runs?limit=100')).body.flatMap((run: any) =>
      run.kind === 'channel_delivery' ? [run.input_metadata.origin_message_id] : [],
    )
  const asks = async (body: object): Promise<string> =>
    (await daemon.over((await daemon.say({ ...body })).body.stimulus_id)).message_id
  await asks({ content: 'by a session', sender_session_id: 'A' })
  const root = await asks({ content: 'by the daemon' })
  await asks({ content: 'summary', scope: 'thread', thread_root_message_id: root, visibility_hint: 'main' })
  await asks({ content: 'end', scope: 'thread', thread_root_message_id: root, kind: 'result_summary' })
  const [work] = await daemon.eventually(
    () => daemon.work(`?thread_root_message_id=${root}`),
    ([one]) => one?.owner_session_id !== undefined,
  )
  t.true(['A', 'B'].includes(work.owner_session_id))
  t.deepEqual([...new Set(await runs())], [root])
})

test('stimuli-12: what a stimulus tells of moves the work of its thread on, and nothing moves it back', async (t) => {
  const daemon = await startTalk(t)
  const root = (await daemon.post('A question of mine')).message_id
  t.deepEqual(await daemon.work(), [])
  const statuses = []
  for (const kind of [
    'agent_idea',
    'review_completed',
    'task_completed',
    'result_summary',
    'review_completed',
    'supersession_notice',
    'agent_idea',
  ]) {
    const body = { kind, content: `${kind} ${statuses.length}`, scope: 'thread', thread_root_message_id: root }
    await daemon.over((await daemon.say(body)).body.stimulus_id)
    const [work] = await daemon.work()
    statuses.push(`${work.status} ${work.topic_kind}`)
  }
  t.deepEqual(statuses, [
    'active human',
    'reviewing human',
    'reviewing human',
    'completed summary',
    'completed summary',
    'superseded summary',
    'superseded summary',
  ])
})

test('stimuli-14: the newest of each key is kept, of thirty-two keys at most', async (t) => {
  const daemon = await startTalk(t)
  const root = (await daemon.post('How far?')).message_id
  for (const n of Array.from({ length: 34 }, (_, at) => at)) {
    const body = {
      content: `at ${n}`,
      scope: 'thread',
      thread_root_message_id: root,
      progress_key: `k${n % 33}`,
      source_kind: 's',
      source_ref: 'r',
    }
    await daemon.over((await daemon.say(body)).body.stimulus_id)
  }
  const [{ progress_snapshots: shots }] = await daemon.work()
  t.is(shots.length, 32)
  t.like(shots.at(-1), { progress_key: 'k0', summary_digest: 'at 33', source_kind: 's', source_ref: 'r' })
  t.is(shots.at(-1).latest_message_id, (await daemon.messages()).at(-1).message_id)
})

test('stimuli-15: what waited still waits for the next life, and its channel takes all of it along', async (t) => {
  const root = await makeFolder(t)
  const first = await startTalk(t, { root })
  await first.over((await first.say({ content: 'said' })).body.stimulus_id)
  await first.change({ paused: true })
  const waiting = (await first.say({ content: 'waits' })).body
  await first.held(waiting.stimulus_id)
  await first.stop()
  const { startTestDaemon } = await import('../../../support/daemon.js')
  const second = await startTestDaemon(t, { root })
  const hands = handsOf(second)
  t.is((await hands.stimuli('?state=pending'))[0].stimulus_id, waiting.stimulus_id)
  await hands.change({ paused: false })
  t.is((await hands.over(waiting.stimulus_id)).state, 'dispatched')
  t.is((await hands.messages()).length, 2)
  t.is((await second.request('DELETE', channel)).status, 200)
  const make = { channel_id: 'garden', title: 'Anew', members: [] }
  await hands.eventually(
    () => second.request('POST', '/v1/channels', make),
    ({ status }) => status === 201,
  )
  t.deepEqual([await hands.stimuli(), await hands.work()], [[], []])
})
