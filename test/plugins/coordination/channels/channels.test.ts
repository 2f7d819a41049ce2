/** Channels as clients see them; docs/rules/channels.md. */
import test from 'ava'
import { ChannelParts, type ChannelPart } from '../../../../plugins/coordination/channels/contract.js'
import { read, upload } from '../../../support/boards.js'
import { channel, person, said } from '../../../support/channels.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'

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
const noMetrics = {
  active_turn_lease_count: 0,
  active_public_speaker_count: 0,
  pending_stimulus_count: 0,
  claimed_stimulus_count: 0,
  active_thread_work_count: 0,
  recent_autonomous_root_posts_1h: 0,
  suppressed_stimulus_count: 0,
}

test('channels-1, channels-2, channels-3: a channel is created with its defaults under its id', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await daemon.request('POST', '/v1/channels', {
    channel_id: ' The Garden ',
    title: '  The garden ',
    description: '  ',
    purpose: ' Plants ',
    created_by: ' ',
    metadata: { a: [1] },
    members: [person('ann')],
    autonomy_policy: { member_cooldown_ms: 0, max_pending_stimuli: 1 },
  })
  t.is(made.status, 201)
  const { created_at_ms, updated_at_ms } = made.body
  t.deepEqual(made.body, {
    channel_id: 'The Garden',
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
        display_name: 'ann',
        actor_id: 'ann',
        participation_mode: 'selected_only',
        muted: false,
        joined_at_ms: created_at_ms,
      },
    ],
    created_by: 'system',
    autonomy_policy: { ...defaults, member_cooldown_ms: 0, max_pending_stimuli: 1 },
    default_participation_mode: 'selected_only',
    moderation_metrics: noMetrics,
    metadata: { a: [1] },
  })
  t.deepEqual(await read(daemon, '/v1/channels/The%20Garden'), made.body)
  const blank = (await daemon.request('POST', '/v1/channels', { channel_id: ' ', title: 'x', created_by: 'me' })).body
  t.regex(blank.channel_id, /^channel_/u)
  t.like(blank, { created_by: 'me', autonomy_policy: defaults })
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/channels/none')), [404, 'channel_not_found'])
})

test('channels-1, channels-2, channels-3: what is wrong with a channel is refused, and nothing is there of it', async (t) => {
  const daemon = await startTestDaemon(t)
  await channel(daemon, 'taken')
  const policy = (name: string, value: unknown) => ({ title: 'x', autonomy_policy: { [name]: value } })
  for (const [body, status, code, path] of [
    [{ channel_id: 'taken', title: 'x' }, 409, 'channel_exists', undefined],
    [{}, 400, 'bad_request', 'body.title'],
    [{ title: ' ' }, 400, 'channel_invalid_request', 'body.title'],
    [{ title: 'a\nb' }, 400, 'channel_invalid_request', 'body.title'],
    [{ title: 'x'.repeat(201) }, 400, 'bad_request', 'body.title'],
    [{ title: 'x', channel_id: 'a/b' }, 400, 'channel_invalid_request', 'body.channel_id'],
    [{ title: 'x', channel_id: '..' }, 400, 'channel_invalid_request', 'body.channel_id'],
    [{ title: 'x', channel_id: 'a\u0007' }, 400, 'channel_invalid_request', 'body.channel_id'],
    [{ title: 'x', metadata: { a: 'x'.repeat(65_536) } }, 400, 'bad_request', 'body.metadata'],
    [{ title: 'x', members: [person('a'), person(' ')] }, 400, 'channel_invalid_request', 'body.members.1.member_id'],
    [{ title: 'x', pinned_asset_ids: [' '] }, 400, 'channel_invalid_request', 'body.pinned_asset_ids.0'],
    [
      policy('max_parallel_public_speakers', 0),
      400,
      'bad_request',
      'body.autonomy_policy.max_parallel_public_speakers',
    ],
    [policy('lease_timeout_ms', 0), 400, 'bad_request', 'body.autonomy_policy.lease_timeout_ms'],
    [policy('max_pending_stimuli', 0), 400, 'bad_request', 'body.autonomy_policy.max_pending_stimuli'],
    [
      policy('max_agent_replies_per_human_message', 0),
      400,
      'bad_request',
      'body.autonomy_policy.max_agent_replies_per_human_message',
    ],
    [{ title: 'x', default_participation_mode: 'loud' }, 400, 'bad_request', 'body.default_participation_mode'],
  ] as const) {
    const answer = await daemon.request('POST', '/v1/channels', body)
    t.deepEqual(codeOf(answer), [status, code], JSON.stringify(body).slice(0, 80))
    t.is(answer.body.errors?.[0]?.path, path, JSON.stringify(body).slice(0, 80))
  }
  for (const name of [
    'member_cooldown_ms',
    'max_autonomous_root_posts_per_hour',
    'max_active_autonomous_roots',
    'quiet_period_ms_after_root_post',
  ])
    t.is((await daemon.request('POST', '/v1/channels', policy(name, 0))).body.autonomy_policy[name], 0)
  t.is((await read(daemon, '/v1/channels')).length, 5)
})

const counting = (own: Partial<ChannelPart>) =>
  testPlugin(`part-${own.id}`, {
    register(ctx) {
      ctx.contribute(ChannelParts, { id: 'part', ...own })
    },
  })

test('channels-4: a channel shows its first members, its last message, and sums of what others count', async (t) => {
  const daemon = await startTestDaemon(t, {
    plugins: [
      counting({ id: 'a', metrics: () => ({ pending_stimulus_count: 2, active_turn_lease_count: 1 }) }),
      counting({ id: 'b', metrics: (id) => ({ pending_stimulus_count: id === 'c' ? 3 : 0 }) }),
    ],
  })
  const members = Array.from({ length: 120 }, (_, n) => person(`m${String(n).padStart(3, '0')}`))
  await channel(daemon, 'c', { members: members.toReversed() })
  await said(daemon, 'c', { sender_actor_id: 'm000', content: 'first' })
  const last = await said(daemon, 'c', { sender_actor_id: 'm000', content: 'ü'.repeat(1_500) })
  const shown = await read(daemon, '/v1/channels/c')
  t.like(shown, {
    member_count: 120,
    message_count: 2,
    last_message_id: last.message_id,
    last_message_preview: 'ü'.repeat(1_000),
    moderation_metrics: { ...noMetrics, pending_stimulus_count: 5, active_turn_lease_count: 1 },
  })
  t.deepEqual(
    shown.members.map(({ member_id }: any) => member_id),
    members.slice(0, 100).map(({ member_id }) => member_id),
  )
  t.deepEqual(await read(daemon, '/v1/channels'), [shown])
})

test('channels-5: channels are listed by id and found by a part of what is said of them', async (t) => {
  const daemon = await startTestDaemon(t)
  await channel(daemon, 'b-Id', { title: 'One' })
  await channel(daemon, 'a', { title: 'TITLE', description: 'grün', purpose: 'why' })
  for (const [query, found] of [
    ['', ['a', 'b-Id']],
    ['?query=%20', ['a', 'b-Id']],
    ['?query=B-ID', ['b-Id']],
    ['?query=title', ['a']],
    ['?query=GR%C3%9CN', ['a']],
    ['?query=WHY', ['a']],
    ['?query=nothing', []],
    ['?limit=1', ['a']],
  ] as const)
    t.deepEqual(
      (await read(daemon, `/v1/channels${query}`)).map(({ channel_id }: any) => channel_id),
      [...found],
      query,
    )
  const page = await read(daemon, '/v1/channels?page=true&limit=1')
  t.like(page.pagination, { total_count: 2, order: 'channel_id_asc', has_more: true })
  t.is((await read(daemon, `/v1/channels?cursor=${page.pagination.next_cursor}`)).items[0].channel_id, 'b-Id')
})

test('channels-6: a change replaces what it names, and one that changes nothing leaves the time', async (t) => {
  const daemon = await startTestDaemon(t)
  const made = await channel(daemon, 'c', {
    description: 'd',
    purpose: 'p',
    metadata: { a: 1 },
    members: [person('ann')],
  })
  const put = (body: object) => daemon.request('PUT', '/v1/channels/c', body)
  t.deepEqual((await put({})).body, made)
  t.deepEqual((await put({ title: ` ${made.title} `, description: 'd', metadata: { a: 1 }, paused: false })).body, made)
  await said(daemon, 'c', { sender_actor_id: 'ann', content: 'x' })
  await daemon.request('POST', '/v1/channels/c/members', person('bob'))
  t.is((await read(daemon, '/v1/channels/c')).updated_at_ms, made.updated_at_ms)
  const { body: changed } = await put({
    description: ' ',
    purpose: 'q',
    paused: true,
    metadata: {},
    autonomy_policy: { member_cooldown_ms: 1 },
    default_participation_mode: 'always_listen',
  })
  t.false('description' in changed || 'metadata' in changed)
  t.like(changed, { title: made.title, purpose: 'q', paused: true })
  t.deepEqual(changed.autonomy_policy, { ...defaults, member_cooldown_ms: 1 })
  t.deepEqual((await put({ autonomy_policy: {} })).body.autonomy_policy, defaults)
  t.true(changed.updated_at_ms >= made.updated_at_ms)
  await daemon.request('POST', '/v1/channels/c/members', person('late'))
  t.deepEqual(
    (await read(daemon, '/v1/channels/c')).members.map((one: any) => one.participation_mode),
    ['selected_only', 'selected_only', 'always_listen'],
  )
  t.deepEqual(codeOf(await put({ title: ' ' })), [400, 'channel_invalid_request'])
  t.deepEqual(codeOf(await daemon.request('PUT', '/v1/channels/none', {})), [404, 'channel_not_found'])
})

const referencesOf = async (daemon: Reachable, asset_id: string): Promise<any[]> =>
  (await read(daemon, `/v1/assets/${asset_id}/references`)).references

test('channels-7: pinned assets are there, and stay while they are pinned', async (t) => {
  const daemon = await startTestDaemon(t)
  const [one, two] = [await upload(daemon, '{"a":1}'), await upload(daemon, '{"a":2}')]
  await channel(daemon, 'a b', { pinned_asset_ids: [` ${one} `, one] })
  t.deepEqual(await referencesOf(daemon, one), [
    { domain: 'channels', owner_id: 'a b', role: 'pinned_asset', hard: true },
  ])
  t.is((await daemon.request('DELETE', `/v1/assets/${one}`)).status, 409)
  const put = (pinned_asset_ids: readonly string[]) => daemon.request('PUT', '/v1/channels/a%20b', { pinned_asset_ids })
  const missing = await put([one, 'asset_none'])
  t.deepEqual(codeOf(missing), [404, 'asset_not_found'])
  t.is(missing.body.errors[0].path, 'body.pinned_asset_ids.1')
  t.deepEqual((await put([two, one])).body.pinned_asset_ids, [two, one])
  t.deepEqual((await put([two])).body.pinned_asset_ids, [two])
  t.deepEqual(await referencesOf(daemon, one), [])
  t.is((await daemon.request('DELETE', `/v1/assets/${one}`)).status, 200)
  t.false('pinned_asset_ids' in (await put([])).body)
  t.is((await daemon.request('DELETE', `/v1/assets/${two}`)).status, 200)
})

test('channels-8: a channel that something needs is not removed', async (t) => {
  const daemon = await startTestDaemon(t, {
    plugins: [counting({ id: 'a', veto: (id) => (id === 'kept' ? 'the project p1 links it' : undefined) })],
  })
  const kept = await channel(daemon, 'kept')
  await channel(daemon, 'free')
  const refused = await daemon.request('DELETE', '/v1/channels/kept')
  t.deepEqual(codeOf(refused), [409, 'channel_in_use'])
  t.true(refused.body.detail.includes('the project p1 links it'))
  t.deepEqual(await read(daemon, '/v1/channels/kept'), kept)
  t.deepEqual((await daemon.request('DELETE', '/v1/channels/free')).body, { accepted: true })
  t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/channels/free')), [404, 'channel_not_found'])
})

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (let n = 0; n < 2_000; n += 1) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new TypeError('it never was so')
}

test('channels-9, channels-22: what a removed channel held goes in portions, over restarts, and is not there meanwhile', async (t) => {
  const root = await freshRoot()
  let [mayEnd, asked, removed] = [false, 0, 0]
  const part = counting({
    id: 'a',
    removed: () => {
      removed += 1
    },
    sweep: () => {
      asked += 1
      return mayEnd
    },
  })
  const first = await startTestDaemon(t, { root, plugins: [part] })
  const asset_id = await upload(first, '{}')
  await channel(first, 'c', { members: [person('ann')], pinned_asset_ids: [asset_id] })
  const root_message = await said(first, 'c', { sender_actor_id: 'ann', content: 'x' })
  await Promise.all(
    Array.from({ length: 450 }, (_, n) =>
      said(first, 'c', {
        sender_actor_id: 'ann',
        ...(n % 3 === 0 && { reply_to_message_id: root_message.message_id }),
        input_items: [
          { type: 'text', text: `m${n}` },
          { type: 'asset_reference', asset_id },
        ],
      }),
    ),
  )
  const reactions = `/v1/channels/c/messages/${root_message.message_id}/reactions`
  await first.request('POST', reactions, { actor_id: 'ann', emoji: '👍' })
  t.is((await first.request('DELETE', '/v1/channels/c')).status, 200)
  t.is(removed, 1)
  for (const path of ['/v1/channels/c', '/v1/channels/c/messages', '/v1/channels/c/members'])
    t.deepEqual(codeOf(await first.request('GET', path)), [404, 'channel_not_found'], path)
  t.deepEqual(await read(first, '/v1/channels'), [])
  t.deepEqual(codeOf(await first.request('POST', '/v1/channels', { channel_id: 'c', title: 'x' })), [
    409,
    'channel_exists',
  ])
  await until(async () => asked > 0)
  t.deepEqual(await referencesOf(first, asset_id), [])
  await first.stop()
  const before = asked
  mayEnd = true
  const second = await startTestDaemon(t, { root, plugins: [part] })
  await until(
    async () => (await second.request('POST', '/v1/channels', { channel_id: 'c', title: 'new' })).status === 201,
  )
  t.true(asked > before)
  t.like(await read(second, '/v1/channels/c'), { title: 'new', member_count: 0, message_count: 0 })
  t.deepEqual(await read(second, '/v1/channels/c/messages'), [])
})
