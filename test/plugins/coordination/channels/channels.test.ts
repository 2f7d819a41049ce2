/** Channels and their members as clients see them; docs/rules/channels.md. */
import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession } from '../../../support/runs.js'

const garden = {
  channel_id: 'garden',
  title: '  The garden ',
  purpose: 'Plants',
  description: '  ',
  metadata: { a: [1] },
}
const defaults = {
  max_parallel_public_speakers: 1,
  max_agent_replies_per_human_message: 3,
  member_cooldown_ms: 15_000,
  lease_timeout_ms: 60_000,
  max_pending_stimuli: 32,
  max_autonomous_root_posts_per_hour: 4,
  max_active_autonomous_roots: 1,
  quiet_period_ms_after_root_post: 300_000,
}
const ann = { member_id: 'ann', member_kind: 'human_actor', display_name: 'Ann' }

test('channels-1, channels-2: a channel is created with its defaults, under a chosen or a made id', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await daemon.request('POST', '/v1/channels', { ...garden, members: [ann] })
  t.is(made.status, 201, JSON.stringify(made.body))
  const { created_at_ms, updated_at_ms } = made.body
  t.deepEqual(made.body, {
    channel_id: 'garden',
    title: 'The garden',
    purpose: 'Plants',
    member_count: 1,
    message_count: 0,
    created_at_ms,
    updated_at_ms,
    paused: false,
    members: [
      {
        member_id: 'ann',
        member_kind: 'human_actor',
        display_name_mode: 'manual',
        display_name: 'Ann',
        actor_id: 'ann',
        participation_mode: 'selected_only',
        muted: false,
        joined_at_ms: created_at_ms,
      },
    ],
    created_by: 'system',
    autonomy_policy: defaults,
    default_participation_mode: 'selected_only',
    moderation_metrics: {
      active_turn_lease_count: 0,
      active_public_speaker_count: 0,
      pending_stimulus_count: 0,
      claimed_stimulus_count: 0,
      active_thread_work_count: 0,
      recent_autonomous_root_posts_1h: 0,
      suppressed_stimulus_count: 0,
    },
    metadata: { a: [1] },
  })
  t.deepEqual((await daemon.request('GET', '/v1/channels/garden')).body, made.body)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/channels', garden)), [409, 'channel_exists'])
})

test('channels-17, channels-20: messages', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  const writer = { member_id: 'w', member_kind: 'session', session_id: 'writer', display_name: 'Writer' }
  await daemon.request('POST', '/v1/channels', { ...garden, members: [ann, writer] })
  const path = '/v1/channels/garden/messages'
  const first = await daemon.request('POST', path, { sender_actor_id: 'ann', content: ' writer: hi ' })
  t.is(first.status, 201, JSON.stringify(first.body))
  t.deepEqual(first.body.addressed_member_ids, ['w'])
  const reply = await daemon.request('POST', path, {
    sender_actor_id: 'x',
    sender_session_id: 'writer',
    reply_to_message_id: first.body.message_id,
    content: 'hello',
  })
  t.is(reply.status, 201, JSON.stringify(reply.body))
  t.is(reply.body.thread_root_message_id, first.body.message_id)
  const reacted = await daemon.request('DELETE', `${path}/${first.body.message_id}/reactions`, {
    actor_id: 'ann',
    emoji: 'x',
  })
  t.is(reacted.status, 200, JSON.stringify(reacted.body))
  t.is((await daemon.request('DELETE', '/v1/channels/garden')).status, 200)
  for (let n = 0; n < 100; n += 1) {
    const again = await daemon.request('POST', '/v1/channels', garden)
    if (again.status === 201) return t.pass()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.fail()
})
