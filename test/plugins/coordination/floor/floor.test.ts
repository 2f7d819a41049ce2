/** Who speaks in a channel, with real runs. */
import test from 'ava'
import { createLatch } from '../../../support/latch.js'
import { codeOf, submit, until } from '../../../support/runs.js'
import { channel, eventually, quiet, said, startBots } from './bots.js'

test('floor-1, floor-6, floor-8, floor-10: two bots and a person stop at the budget', async (t) => {
  const daemon = await startBots(t, ['A', 'B'], {
    script: ({ bot: name, message }) => `${name} heard ${message.slice(0, 20)}`,
    policy: { member_cooldown_ms: 0 },
  })
  const asked = await daemon.post('Talk to each other!')
  await quiet(daemon)
  t.deepEqual(await said(daemon), [
    'ann: Talk to each other!',
    'A: A heard Talk to each other!',
    'B: B heard A heard Talk to each',
    'A: A heard B heard A heard Talk',
  ])
  const turns = await daemon.turns()
  t.is(turns.length, 3)
  const [first, second] = turns
  t.like(first, {
    session_id: 'A',
    kind: 'channel_delivery',
    status: 'completed',
    request: { source_plugin: 'daemon', source_kind: 'channel', actor_id: 'ann', text_preview: 'Talk to each other!' },
  })
  const [, answer] = await daemon.messages()
  t.deepEqual(first.input_metadata, {
    channel_id: 'garden',
    thread_root_message_id: asked.message_id,
    origin_message_id: asked.message_id,
    human_origin_message_id: asked.message_id,
    turn_id: first.input_metadata.turn_id,
    addressed_member_ids: [],
  })
  t.like(second.input_metadata, { origin_message_id: answer.message_id, human_origin_message_id: asked.message_id })
  t.like(answer, {
    sender: { id: 'A', display_name: 'A' },
    sender_session_id: 'A',
    reply_to_message_id: asked.message_id,
    thread_root_message_id: asked.message_id,
    metadata: {
      source_kind: 'channel_delivery',
      source_run_id: first.run_id,
      turn_id: first.input_metadata.turn_id,
    },
  })
  t.is(
    (await daemon.post('Once more', { thread_root_message_id: asked.message_id })).thread_root_message_id,
    asked.message_id,
  )
  await quiet(daemon)
  t.is((await said(daemon)).length, 8, 'a person who says more starts the count anew')
})

test('floor-1, floor-7: who has the floor is seen, with who comes next and for how long', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: async () => {
      await gate.wait()
      return undefined
    },
  })
  const { message_id } = await daemon.post('B: hello', { addressed_member_ids: ['B'] })
  await gate.reached
  const [lease, ...more] = await daemon.leases()
  t.deepEqual(more, [])
  const [run] = await daemon.turns()
  t.deepEqual(lease, {
    turn_id: run.input_metadata.turn_id,
    channel_id: 'garden',
    thread_root_message_id: message_id,
    origin_message_id: message_id,
    holder_session_id: 'B',
    active_run_id: run.run_id,
    remaining_reply_budget: 3,
    expires_at_ms: lease.expires_at_ms,
    queued_candidate_session_ids: ['A', 'C'],
    last_human_message_id: message_id,
    agent_reply_count_since_last_human: 0,
    current_human_origin_message_id: message_id,
    last_human_priority_session_ids: ['B'],
  })
  t.true(lease.expires_at_ms > run.submitted_at_ms)
  const { moderation_metrics } = (await daemon.request('GET', channel)).body
  t.like(moderation_metrics, { active_turn_lease_count: 1, active_public_speaker_count: 1 })
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/channels/none/leases')), [404, 'channel_not_found'])
  gate.open()
  await quiet(daemon)
})

test('floor-8, floor-9: plain text is silence, and silence passes the floor to each of the others once', async (t) => {
  const daemon = await startBots(t, ['A', 'B', 'C'], { script: () => undefined })
  await daemon.post('Anybody?')
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Anybody?'])
  t.deepEqual(
    (await daemon.turns()).map(({ session_id }) => session_id),
    ['A', 'B', 'C'],
  )
})

test('floor-8: of several outputs the last is said, once, also of a run that fails', async (t) => {
  const daemon = await startBots(t, ['A'], {
    script: () => [
      { type: 'part', part: { type: 'tool_call', id: 'one', name: 'emit_output', input: { content: 'first' } } },
      { type: 'part', part: { type: 'tool_call', id: 'two', name: 'emit_output', input: { content: 'second' } } },
      { type: 'done', outcome: 'tool_calls', usage: { input_tokens: 1, output_tokens: 1 } },
    ],
  })
  await daemon.post('Say two things.')
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Say two things.', 'A: second'])
})

test('floor-1: what a session says, and what nobody calls for, asks nobody', async (t) => {
  const daemon = await startBots(t, ['A', 'B'], { script: () => undefined })
  await daemon.request('POST', `${channel}/messages`, { sender_actor_id: 'A', sender_session_id: 'A', content: 'hi' })
  await daemon.request('PUT', channel, { paused: true })
  await daemon.post('nobody hears this')
  await daemon.request('PUT', channel, { paused: false })
  await quiet(daemon)
  t.deepEqual(await daemon.turns(), [])
})

test('floor-5, floor-11: a newer message of a person is answered next, by who it addresses', async (t) => {
  const gates = [createLatch(), createLatch()]
  let turn = 0
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: async ({ bot: name, message }) => {
      const gate = gates[turn]
      turn += 1
      await gate?.wait()
      return name === 'A' ? undefined : `${name} on ${message}`
    },
    policy: { max_agent_replies_per_human_message: 1 },
  })
  const first = await daemon.post('One', { addressed_member_ids: ['A'] })
  await gates[0]?.reached
  const second = await daemon.post('Two', { reply_to_message_id: first.message_id, addressed_member_ids: ['C'] })
  await eventually(daemon.leases, ([lease]) => lease?.last_human_message_id === second.message_id)
  const [lease] = await daemon.leases()
  t.like(lease, { current_human_origin_message_id: first.message_id, last_human_priority_session_ids: ['C'] })
  t.deepEqual(lease.queued_candidate_session_ids, ['C', 'B'])
  gates[0]?.open()
  await gates[1]?.reached
  t.like((await daemon.leases())[0], { holder_session_id: 'C', current_human_origin_message_id: second.message_id })
  gates[1]?.open()
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: One', 'ann: Two', 'C: C on Two'])
})

test('floor-5: as many speak at a time in a thread as may, and no more messages follow than may', async (t) => {
  const gate = createLatch()
  const daemon = await startBots(t, ['A', 'B', 'C', 'D', 'E'], {
    script: async ({ bot: name }) => {
      await gate.wait()
      return name
    },
    policy: { max_parallel_public_speakers: 2, max_agent_replies_per_human_message: 4 },
  })
  const { message_id } = await daemon.post('All of you')
  await eventually(daemon.leases, (leases) => leases.length === 2)
  await daemon.post('And now?', { thread_root_message_id: message_id })
  await daemon.post('And in another thread?')
  await eventually(daemon.leases, (leases) => leases.length === 4)
  gate.open()
  await quiet(daemon)
  const all = await daemon.messages()
  const [, , third] = all
  const inThread = all.filter((one) => [one.thread_root_message_id, one.message_id].includes(message_id))
  t.is(inThread.length, 2 + 4, JSON.stringify(await said(daemon)))
  t.is(all.filter((one) => one.thread_root_message_id === third?.message_id).length, 4)
})

test('floor-6: who cannot be asked is passed over: ended sessions, full queues', async (t) => {
  const daemon = await startBots(t, ['A', 'B', 'C'], {
    script: ({ bot: name }) => (name === '' ? new Promise<undefined>(() => {}) : name),
    config: { scripted: {}, models: { provider: 'scripted' }, runs: { max_queued_runs: 1 } },
  })
  await daemon.request('POST', '/v1/sessions/A/end', {})
  const { run_id } = await submit(daemon, 'B', 'work')
  await submit(daemon, 'B', 'more work')
  await daemon.post('Who is there?', { addressed_member_ids: ['A', 'B', 'C'] })
  await eventually(
    () => said(daemon),
    (all) => all.length > 1,
  )
  await quiet(daemon)
  t.deepEqual(await said(daemon), ['ann: Who is there?', 'C: C'])
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})
})

test('floor-7: outputs of a turn go nowhere else, also when it is tried again, and no caller can claim one', async (t) => {
  const daemon = await startBots(t, ['A'], {
    script: () => [
      { type: 'done', outcome: 'failed', failure: { class: 'bad_request', retryable: false, message: 'No.' } },
    ],
  })
  await daemon.request('PUT', '/v1/sessions/A/reply-targets', {
    reply_targets: [{ type: 'http', url: 'http://127.0.0.1:9/' }],
  })
  await daemon.post('Hello')
  await quiet(daemon)
  const [failed] = await daemon.turns()
  t.is(failed.status, 'failed')
  const again = await daemon.request('POST', `/v1/runs/${failed.run_id}/retry`, {})
  await until(daemon, again.body.run_id, 'failed')
  t.deepEqual(await said(daemon), ['ann: Hello'])
  for (const key of [
    'turn_id',
    'thread_root_message_id',
    'origin_message_id',
    'human_origin_message_id',
    'superseded_run_id',
  ])
    t.deepEqual(
      codeOf(await daemon.request('POST', '/v1/sessions/A/runs', { content: 'x', metadata: { [key]: 'x' } })),
      [400, 'reserved_metadata_key'],
    )
})
