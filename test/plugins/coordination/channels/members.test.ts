/** Members of channels as clients see them; docs/rules/channels.md. */
import test from 'ava'
import { Channels, ChannelParts, type MemberRecord } from '../../../../plugins/coordination/channels/contract.js'
import { openAgent, spawn } from '../../../support/agents.js'
import { read } from '../../../support/boards.js'
import { channel, person, said, speaker } from '../../../support/channels.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { codeOf, openSession } from '../../../support/runs.js'

const path = '/v1/channels/c/members'

test('channels-12: a member is shown by any of its ids, its own one first', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  await channel(daemon, 'c')
  const put = async (body: object) => (await daemon.request('POST', path, body)).body
  const ann = await put(person('ann', { actor_id: 'user-1' }))
  const bob = await put(person('bob', { actor_id: 'ann' }))
  const pen = await put({ ...speaker('writer'), member_id: 'pen', session_id: 'writer' })
  const mirrored = await put({ ...speaker('writer'), member_id: 'project:p:pen', session_id: 'writer' })
  const get = async (id: string) => (await daemon.request('GET', `${path}/${encodeURIComponent(id)}`)).body
  t.deepEqual([await get('ann'), await get('user-1'), await get('bob')], [ann, ann, bob])
  t.deepEqual([await get('writer'), await get('pen'), await get('project:p:pen')], [pen, pen, mirrored])
  t.is((await get('nobody')).code, 'channel_member_not_found')
  t.is((await daemon.request('GET', '/v1/channels/none/members/ann')).body.code, 'channel_not_found')
})

test('channels-10, channels-11: a member is added, and replaced by who has its id', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  const made = await channel(daemon, 'c', { default_participation_mode: 'prefer_selected' })
  const ann = (
    await daemon.request('POST', path, {
      member_id: ' ann ',
      member_kind: 'human_actor',
      display_name: ' Ann ',
      actor_id: ' user-1 ',
      role: ' boss ',
      expertise_tags: [' a ', '', 'b', 'a'],
    })
  ).body
  t.true(ann.joined_at_ms >= made.created_at_ms)
  t.deepEqual(ann, {
    member_id: 'ann',
    member_kind: 'human_actor',
    display_name_mode: 'manual',
    display_name: 'Ann',
    actor_id: 'user-1',
    role: 'boss',
    expertise_tags: ['a', 'b'],
    participation_mode: 'prefer_selected',
    muted: false,
    joined_at_ms: ann.joined_at_ms,
  })
  const again = await daemon.request('POST', path, person('ann', { muted: true, participation_mode: 'manual_only' }))
  t.is(again.status, 200)
  t.deepEqual(again.body, {
    member_id: 'ann',
    member_kind: 'human_actor',
    display_name_mode: 'manual',
    display_name: 'ann',
    actor_id: 'ann',
    participation_mode: 'manual_only',
    muted: true,
    joined_at_ms: ann.joined_at_ms,
  })
  const writer = (await daemon.request('POST', path, speaker('writer'))).body
  t.like(writer, {
    member_kind: 'session',
    session_id: 'writer',
    display_name_mode: 'manual',
    display_name: 'The writer',
  })
  t.false('actor_id' in writer)
  t.deepEqual(
    (await read(daemon, path)).map(({ member_id }: any) => member_id),
    ['ann', 'writer'],
  )
  const before = await read(daemon, path)
  for (const [body, status, code, at] of [
    [person(' '), 400, 'channel_invalid_request', 'body.member_id'],
    [person('a/b'), 400, 'channel_invalid_request', 'body.member_id'],
    [person('x', { display_name: ' ' }), 400, 'channel_invalid_request', 'body.display_name'],
    [person('x', { display_name: 'a\nb' }), 400, 'channel_invalid_request', 'body.display_name'],
    [person('x', { session_id: 'writer' }), 400, 'channel_invalid_request', 'body.session_id'],
    [person('x', { display_name_mode: 'follow_agent' }), 400, 'channel_invalid_request', 'body.display_name_mode'],
    [speaker('writer', { actor_id: 'x' }), 400, 'channel_invalid_request', 'body.actor_id'],
    [speaker('nobody'), 404, 'session_not_found', undefined],
    [speaker('x', { session_id: 'writer' }), 400, 'channel_invalid_request', 'body.session_id'],
    [{ member_id: 'x', member_kind: 'bot', display_name: 'x' }, 400, 'bad_request', 'body.member_kind'],
  ] as const) {
    const answer = await daemon.request('POST', path, body)
    t.deepEqual(codeOf(answer), [status, code], JSON.stringify(body))
    t.is(answer.body.errors?.[0]?.path, at, JSON.stringify(body))
  }
  t.deepEqual((await daemon.request('GET', '/v1/channels/c/members')).body, before)
  const mirrored = await daemon.request('POST', path, speaker('project:p1:m1', { session_id: 'writer' }))
  t.is(mirrored.status, 200)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/channels/none/members', person('x'))), [
    404,
    'channel_not_found',
  ])
})

test('channels-10: a new channel names each member once, or is none', async (t) => {
  const daemon = await startTestDaemon(t)
  const wish = { channel_id: 'twice', title: 'Twice', members: [person('ann'), person('bob'), person(' ann ')] }
  const refused = await daemon.request('POST', '/v1/channels', wish)
  t.deepEqual(codeOf(refused), [400, 'channel_invalid_request'])
  t.deepEqual(refused.body.errors, [{ path: 'body.members.2.member_id', rule: 'must not be named twice' }])
  t.is((await daemon.request('GET', '/v1/channels/twice')).status, 404)
})

test('channels-12: members are listed by id, and leave with what they said staying', async (t) => {
  const left: MemberRecord[] = []
  const lent = lender({ channels: Channels })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  t.teardown(
    lent.context().contribute(ChannelParts, {
      id: 'part',
      left: (_, member) => void left.push(member),
    }),
  )
  await openSession(daemon, 'writer')
  const both = [speaker('writer'), speaker('project:p:w', { session_id: 'writer', participation_mode: 'manual_only' })]
  await channel(daemon, 'c', { members: [person('b'), person('a'), ...both] })
  const message = await said(daemon, 'c', { sender_actor_id: 'x', sender_session_id: 'writer', content: 'hello' })
  t.deepEqual(
    (await read(daemon, path)).map(({ member_id }: any) => member_id),
    ['a', 'b', 'project:p:w', 'writer'],
  )
  t.deepEqual(
    (await read(daemon, `${path}?page=true&limit=3`)).items.map(({ member_id }: any) => member_id),
    ['a', 'b', 'project:p:w'],
  )
  const { channels } = lent.services()
  t.is(channels.memberOf('c', 'writer')?.member_id, 'writer')
  t.deepEqual(
    channels.listeners('c').map(({ member_id }) => member_id),
    ['writer'],
  )
  await daemon.request('DELETE', '/v1/sessions/writer')
  t.is(channels.memberOf('c', 'writer')?.member_id, 'writer')
  t.deepEqual((await daemon.request('DELETE', `${path}/writer`)).body, { accepted: true })
  t.deepEqual(
    left.map(({ member_id }) => member_id),
    ['writer'],
  )
  t.is(channels.memberOf('c', 'writer')?.member_id, 'project:p:w')
  t.deepEqual([...channels.ofSession('writer')], ['c'])
  t.is((await daemon.request('DELETE', `${path}/project:p:w`)).status, 200)
  t.deepEqual(
    left.map(({ member_id }) => member_id),
    ['writer', 'project:p:w'],
  )
  t.deepEqual([...channels.ofSession('writer')], [])
  t.deepEqual(codeOf(await daemon.request('DELETE', `${path}/writer`)), [404, 'channel_member_not_found'])
  t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/channels/none/members/a')), [404, 'channel_not_found'])
  t.deepEqual(await read(daemon, '/v1/channels/c/messages'), [message])
  t.is((await read(daemon, '/v1/channels/c')).member_count, 2)
})

test('channels-13: a channel takes 10,000 members and no more', async (t) => {
  const lent = lender({ channels: Channels })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  await channel(daemon, 'c')
  const { channels } = lent.services()
  await lent.context().state.commit((tx) => {
    for (let n = 0; n < 10_000; n += 1)
      channels.putMember(tx, 'c', { member_id: `m${n}`, member_kind: 'human_actor', display_name: `M${n}` })
  })
  t.deepEqual(codeOf(await daemon.request('POST', path, person('one more'))), [409, 'channel_full'])
  t.is((await daemon.request('POST', path, person('m7', { display_name: 'Seven' }))).status, 200)
  await daemon.request('DELETE', `${path}/m8`)
  t.is((await daemon.request('POST', path, person('one more'))).status, 200)
})

test('channels-14, channels-15, channels-16: who follows its agent is called and found as that is called now', async (t) => {
  const root = await freshRoot()
  const daemon = await startTestDaemon(t, { root })
  const parent = await openAgent(daemon)
  const child = (await spawn(daemon, parent, { session_id: 'child', nickname: 'Rosa' })).body
  const agent_id = child.agent?.agent_id ?? child.agent_id ?? child.snapshot?.agent_id
  const rename = async (nickname: string): Promise<void> => {
    t.is((await daemon.request('POST', `/v1/agents/${agent_id}/nickname`, { nickname })).status, 200)
  }
  const members = [
    person('ann'),
    speaker('s1', { display_name: parent }),
    { ...speaker('child'), member_id: 'k', session_id: 'child', display_name: 'Rosa' },
  ]
  const made = await channel(daemon, 'c', { members })
  t.deepEqual(
    made.members.map((one: any) => [one.display_name, one.display_name_mode]),
    [
      ['ann', 'manual'],
      ['Rosa', 'follow_agent'],
      [parent, 'follow_agent'],
    ],
  )
  const stays = { ...speaker('child'), member_id: 'k', session_id: 'child', display_name: 'Rosa' }
  await channel(daemon, 'd', { members: [{ ...stays, display_name_mode: 'manual' }] })
  await channel(daemon, 'e', { members: [{ ...stays, display_name: 'whatever', display_name_mode: 'follow_agent' }] })
  const early = await said(daemon, 'c', { sender_actor_id: 'x', sender_session_id: 'child', content: 'early' })
  t.is(early.sender.display_name, 'Rosa')
  await rename('Lila')
  const nameIn = async (id: string) =>
    (await read(daemon, `/v1/channels/${id}/members`)).find((one: any) => one.session_id === 'child').display_name
  t.deepEqual([await nameIn('c'), await nameIn('d'), await nameIn('e')], ['Lila', 'Rosa', 'Lila'])
  const calls = async (content: string) =>
    (await said(daemon, 'c', { sender_actor_id: 'ann', content })).addressed_member_ids
  t.deepEqual(await calls('lila: hi'), ['k'])
  t.is(await calls('Rosa: hi'), undefined)
  t.is(
    (await said(daemon, 'c', { sender_actor_id: 'x', sender_session_id: 'child', content: 'b' })).sender.display_name,
    'Lila',
  )
  const own = { sender_actor_id: 'x', sender_session_id: 'child', content: 'c', sender_display_name: ' Me ' }
  t.is((await said(daemon, 'c', own)).sender.display_name, 'Me')
  t.deepEqual((await read(daemon, '/v1/channels/c/messages'))[0], early)
  await daemon.stop()

  // As a life leaves it that was killed between the name and its members.
  const was = (record: any) => ({ ...record, display_name: 'Rosa' })
  rewriteRecord(root, { collection: 'channel_members', id: 'c/k' }, was)
  const second = await startTestDaemon(t, { root })
  const found = (await read(second, path)).find((one: any) => one.session_id === 'child')
  t.is(found.display_name, 'Lila')
  t.deepEqual((await said(second, 'c', { sender_actor_id: 'ann', content: 'Lila, hi' })).addressed_member_ids, ['k'])
  t.is((await said(second, 'c', { sender_actor_id: 'ann', content: 'Rosa, hi' })).addressed_member_ids, undefined)
})
