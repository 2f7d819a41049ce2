/** Messages of channels as clients see them; docs/rules/channels.md. */
import test from 'ava'
import { Channels, ChannelParts } from '../../../../plugins/coordination/channels/contract.js'
import { board, picture, read, revise, upload } from '../../../support/boards.js'
import { channel, person, said, say, speaker } from '../../../support/channels.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { codeOf, openSession } from '../../../support/runs.js'

const path = '/v1/channels/c/messages'
const ann = { sender_actor_id: 'ann' }
const writer = { sender_actor_id: 'w', sender_session_id: 'writer' }
const members = [person('ann', { actor_id: 'user-1' }), speaker('writer', { member_id: 'w', session_id: 'writer' })]

test('channels-17: who sends is a member, and says so if it is a session', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  await openSession(daemon, 'stranger')
  await channel(daemon, 'c', { members })
  const first = await say(daemon, 'c', { ...ann, content: ' x ', metadata: { a: 1 } })
  t.is(first.status, 201)
  const { message_id, created_at_ms } = first.body
  t.deepEqual(first.body, {
    message_id,
    channel_id: 'c',
    sender: { id: 'ann' },
    output: { content: 'x', parts: [], artifacts: [] },
    created_at_ms,
    metadata: { a: 1 },
  })
  t.is((await said(daemon, 'c', { sender_actor_id: ' user-1 ', content: 'x' })).sender.id, 'user-1')
  t.deepEqual((await said(daemon, 'c', { ...writer, content: 'x' })).sender, { id: 'w', display_name: 'The writer' })
  for (const [body, status, at] of [
    [{ sender_actor_id: ' ', content: 'x' }, 400, 'body.sender_actor_id'],
    [{ sender_actor_id: 'bob', content: 'x' }, 400, 'body.sender_actor_id'],
    [{ sender_actor_id: 'w', content: 'x' }, 400, 'body.sender_session_id'],
    [{ sender_actor_id: 'ann', sender_session_id: 'stranger', content: 'x' }, 400, 'body.sender_session_id'],
    [{ ...ann, content: 'x', metadata: { a: 'x'.repeat(65_536) } }, 400, 'body.metadata'],
  ] as const) {
    const answer = await say(daemon, 'c', body)
    t.is(answer.status, status, JSON.stringify(body).slice(0, 99))
    t.is(answer.body.errors?.[0]?.path, at)
  }
  t.deepEqual(codeOf(await say(daemon, 'none', { ...ann, content: 'x' })), [404, 'channel_not_found'])
  t.is((await read(daemon, path)).length, 3)
})

test('channels-17: an answer is in the thread of what it answers, and a thread begins with its root', async (t) => {
  const daemon = await startTestDaemon(t)
  await channel(daemon, 'c', { members: [person('ann')] })
  await channel(daemon, 'd', { members: [person('ann')] })
  const root = (await said(daemon, 'c', { ...ann, content: 'root' })).message_id
  const other = (await said(daemon, 'c', { ...ann, content: 'other' })).message_id
  const far = (await said(daemon, 'd', { ...ann, content: 'far' })).message_id
  const reply = await said(daemon, 'c', { ...ann, content: 'a', reply_to_message_id: root })
  t.like(reply, { thread_root_message_id: root, reply_to_message_id: root })
  const deeper = await said(daemon, 'c', {
    ...ann,
    content: 'b',
    reply_to_message_id: reply.message_id,
    thread_root_message_id: root,
  })
  t.like(deeper, { thread_root_message_id: root, reply_to_message_id: reply.message_id })
  const beside = await said(daemon, 'c', { ...ann, content: 'c', thread_root_message_id: root })
  t.is(beside.thread_root_message_id, root)
  t.false('reply_to_message_id' in beside)
  for (const [place, status, code] of [
    [{ reply_to_message_id: root, thread_root_message_id: other }, 400, 'channel_invalid_request'],
    [{ thread_root_message_id: reply.message_id }, 400, 'channel_invalid_request'],
    [{ thread_root_message_id: 'none' }, 404, 'channel_message_not_found'],
    [{ reply_to_message_id: 'none' }, 404, 'channel_message_not_found'],
    [{ reply_to_message_id: far }, 404, 'channel_message_not_found'],
    [{ thread_root_message_id: far }, 404, 'channel_message_not_found'],
  ] as const)
    t.deepEqual(
      codeOf(await say(daemon, 'c', { ...ann, content: 'x', ...place })),
      [status, code],
      JSON.stringify(place),
    )
  t.is((await read(daemon, '/v1/channels/c')).message_count, 5)
})

test('channels-18: members are addressed who are named, or else called by a person', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  await openSession(daemon, 'twin')
  await channel(daemon, 'c', {
    members: [
      ...members,
      person('bob', { display_name: 'Bob B.' }),
      person('x1', { display_name: 'Twin' }),
      speaker('twin'),
    ],
  })
  const addressed = async (body: object) => (await said(daemon, 'c', body)).addressed_member_ids
  t.deepEqual(await addressed({ ...ann, content: 'x', addressed_member_ids: [' w ', '', 'bob', 'w'] }), ['w', 'bob'])
  t.deepEqual(await addressed({ ...ann, content: 'The Writer, @bob: x' }), ['w', 'bob'])
  t.deepEqual(await addressed({ ...ann, content: 'bob b. x' }), ['bob'])
  t.deepEqual(await addressed({ ...ann, content: 'The Writer, x', addressed_member_ids: ['bob'] }), ['bob'])
  t.deepEqual(await addressed({ ...ann, content: 'The Writer, x', addressed_member_ids: [' '] }), ['w'])
  t.is(await addressed({ ...ann, content: 'Twin, x' }), undefined)
  t.is(await addressed({ ...writer, content: 'bob, x' }), undefined)
  t.deepEqual(await addressed({ ...writer, content: 'x', addressed_member_ids: ['bob'] }), ['bob'])
  const items = [{ type: 'text', text: 'The writer: x' }]
  t.deepEqual(await addressed({ ...ann, input_items: items }), ['w'])
  const refused = await say(daemon, 'c', { ...ann, content: 'x', addressed_member_ids: ['w', 'nobody'] })
  t.deepEqual(codeOf(refused), [400, 'channel_invalid_request'])
  await daemon.request('DELETE', '/v1/channels/c/members/x1')
  t.is(await addressed({ ...ann, content: 'The twin, x' }).then((ids) => ids?.[0]), 'twin')
})

test('channels-19, channels-22: files of a message are stored, found and kept as long as it is there', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  await channel(daemon, 'c', { members })
  const asset_id = await upload(daemon, '{"a":1}')
  const inline = { type: 'inline_asset', file_name: 'b.txt', media_type: 'text/plain', content_base64: 'eA==' }
  const message = await said(daemon, 'c', {
    ...ann,
    content: 'not this',
    input_items: [
      { type: 'text', text: 'one' },
      inline,
      { type: 'asset_reference', asset_id, file_name: 'c.json' },
      { type: 'text', text: 'two' },
      { type: 'asset_reference', asset_id },
    ],
  })
  const { parts, content, artifacts } = message.output
  t.deepEqual(
    parts.map((part: any) => part.text ?? part.attachment.file_name),
    ['one', 'b.txt', 'c.json', 'two', 'a.json'],
  )
  t.deepEqual(artifacts, [])
  t.regex(content, /^one\n.*b\.txt.*\n.*c\.json.*\ntwo\n.*a\.json/u)
  t.false(content.includes('not this'))
  for (const id of [asset_id, parts[1].attachment.id]) {
    const { references } = await read(daemon, `/v1/assets/${id}/references`)
    const own = references.filter(({ domain }: any) => domain === 'channels')
    t.deepEqual(own, [
      { domain: 'channels', owner_id: message.message_id, role: 'message_part', hard: true, parent_id: 'c' },
    ])
    t.is((await daemon.request('DELETE', `/v1/assets/${id}`)).status, 409)
  }
  const item = (one: object) => ({ ...ann, input_items: [one] })
  for (const [body, status, code] of [
    [{ ...ann, content: ' ' }, 400, 'channel_invalid_request'],
    [ann, 400, 'channel_invalid_request'],
    [item({ type: 'text', text: ' ' }), 400, 'channel_invalid_request'],
    [item({ type: 'asset_reference', asset_id: 'none' }), 404, 'asset_not_found'],
    [item({ ...inline, content_base64: '?' }), 400, 'asset_invalid'],
    [item({ ...inline, file_name: ' ' }), 400, 'inline_asset_empty'],
    [item({ type: 'board_reference', board_id: 'plan' }), 400, 'channel_invalid_request'],
    [{ ...ann, content: 'x'.repeat(262_145) }, 400, 'bad_request'],
  ] as const)
    t.deepEqual(codeOf(await say(daemon, 'c', body)), [status, code], JSON.stringify(body).slice(0, 120))
  t.is((await said(daemon, 'c', { ...ann, content: 'x'.repeat(262_144) })).output.content.length, 262_144)
})

test('channels-19: a session may say something with a board', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  await channel(daemon, 'c', { members })
  await board(daemon, 'plan')
  const render_asset_id = await picture(daemon)
  const board_item = { ...writer, input_items: [{ type: 'board_reference', board_id: 'plan' }] }
  t.deepEqual(codeOf(await say(daemon, 'c', board_item)), [400, 'board_empty'])
  await revise(daemon, 'plan', { client_revision_id: 'r1', render_asset_id })
  const { output } = await said(daemon, 'c', board_item)
  t.is(output.parts[0].attachment.id, render_asset_id)
  t.is(output.parts.length, 2)
  t.is((await say(daemon, 'c', { ...writer, input_items: [{ type: 'board_reference', board_id: 'no' }] })).status, 404)
})

test('channels-19, channels-22: what a plugin posts is heard, cut where it is too long, and keeps its files', async (t) => {
  const lent = lender({ channels: Channels })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  const heard: unknown[] = []
  t.teardown(
    lent.context().contribute(ChannelParts, {
      id: 'part',
      posted: (_, message, { calls }) => void heard.push([message.message_id, calls]),
    }),
  )
  await channel(daemon, 'c', { members: [person('ann')] })
  const asset = await read(daemon, `/v1/assets/${await upload(daemon, '{}')}`)
  const { channels } = lent.services()
  const file = { id: asset.asset_id, media_type: asset.media_type, uri: asset.uri }
  const long = `${'x'.repeat(262_143 - ' … (cut)'.length)}😀`
  const message = await lent.context().state.commit((tx) =>
    channels.post(tx, {
      channel_id: 'c',
      sender: { id: 'daemon' },
      output: { content: `${long}${'y'.repeat(1_000)}`, parts: [], artifacts: [file] },
      calls: false,
    }),
  )
  t.deepEqual(heard, [[message.message_id, false]])
  t.is(message.output.content, `${'x'.repeat(262_143 - ' … (cut)'.length)} … (cut)`)
  t.deepEqual((await read(daemon, `/v1/assets/${asset.asset_id}/references`)).references, [
    { domain: 'channels', owner_id: message.message_id, role: 'message_artifact', hard: true, parent_id: 'c' },
  ])
  const none = { ...file, id: 'none' }
  await t.throwsAsync(
    lent.context().state.commit((tx) =>
      channels.post(tx, {
        channel_id: 'c',
        sender: { id: 'daemon' },
        output: { content: 'x', parts: [{ type: 'attachment', attachment: none }], artifacts: [] },
      }),
    ),
    { message: /none/u },
  )
  t.is((await read(daemon, '/v1/channels/c')).message_count, 1)
})

test('channels-20: members give emojis to messages and take them back', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  await channel(daemon, 'c', { members })
  const { message_id } = await said(daemon, 'c', { ...ann, content: 'x' })
  const react = (method: string, actor_id: string, emoji: string) =>
    daemon.request(method, `${path}/${message_id}/reactions`, { actor_id, emoji })
  for (const [actor, emoji] of [
    ['writer', 'b'],
    [' w ', ' b '],
    ['user-1', 'b'],
    ['ann', 'b'],
    ['ann', 'a b'],
    ['ann', 'b'],
  ] as const)
    t.is((await react('POST', actor, emoji)).status, 200)
  const given = { actor_id: 'ann', emoji: 'c' }
  const set = await daemon.request('POST', `/v1/channels/c/messages/${message_id}/reactions`, given)
  const unset = await daemon.request('DELETE', `/v1/channels/c/messages/${message_id}/reactions`, given)
  t.deepEqual([set.body.reactions.length, unset.body.reactions.length], [3, 2])
  const all = [
    { emoji: 'a b', actor_ids: ['user-1'], count: 1 },
    { emoji: 'b', actor_ids: ['user-1', 'writer'], count: 2 },
  ]
  t.deepEqual((await react('POST', 'ann', 'b')).body.reactions, all)
  t.deepEqual((await read(daemon, path))[0].reactions, all)
  t.deepEqual((await react('DELETE', 'ann', 'a b')).body.reactions, [all[1]])
  t.deepEqual((await react('DELETE', 'ann', 'a b')).body.reactions, [all[1]])
  await react('DELETE', 'ann', 'b')
  t.false('reactions' in (await react('DELETE', 'w', 'b')).body)
  for (const [answer, status, code] of [
    [await react('POST', 'bob', 'b'), 400, 'channel_invalid_request'],
    [await react('POST', ' ', 'b'), 400, 'channel_invalid_request'],
    [await react('POST', 'ann', ' '), 400, 'channel_invalid_request'],
    [await react('DELETE', 'bob', 'b'), 400, 'channel_invalid_request'],
    [await daemon.request('DELETE', `${path}/${message_id}/reactions`), 400, 'bad_request'],
    [
      await daemon.request('POST', `${path}/none/reactions`, { actor_id: 'ann', emoji: 'b' }),
      404,
      'channel_message_not_found',
    ],
  ] as const)
    t.deepEqual(codeOf(answer), [status, code])
  for (let n = 0; n < 50; n += 1) await react('POST', 'ann', `e${n}`)
  t.deepEqual(codeOf(await react('POST', 'ann', 'more')), [409, 'channel_reactions_full'])
  t.is((await react('POST', 'w', 'e7')).body.reactions.length, 50)
  await daemon.request('DELETE', '/v1/channels/c/members/ann')
  t.deepEqual(codeOf(await react('POST', 'ann', 'e1')), [400, 'channel_invalid_request'])
})

test('channels-20: of an emoji that many gave the first hundred are named, and all are counted', async (t) => {
  const daemon = await startTestDaemon(t)
  const many = Array.from({ length: 103 }, (_, n) => person(`m${String(n).padStart(3, '0')}`))
  await channel(daemon, 'c', { members: many })
  const { message_id } = await said(daemon, 'c', { sender_actor_id: 'm000', content: 'x' })
  await Promise.all(
    many.map(({ member_id }) =>
      daemon.request('POST', `${path}/${message_id}/reactions`, { actor_id: member_id, emoji: '👍' }),
    ),
  )
  const [{ reactions }] = await read(daemon, path)
  t.is(reactions[0].count, 103)
  t.deepEqual(
    reactions[0].actor_ids,
    many.slice(0, 100).map(({ member_id }) => member_id),
  )
})

test('channels-21: messages are listed in their order, by thread, by text, and back from one', async (t) => {
  const lent = lender({ channels: Channels })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  await openSession(daemon, 'writer')
  await channel(daemon, 'c', { members })
  await channel(daemon, 'd', { members: [person('ann')] })
  const asset_id = await upload(daemon, '{}')
  const ids: string[] = []
  for (const body of [
    { ...ann, content: 'root GRÜN' },
    { ...writer, content: 'two' },
    { ...ann, content: 'three', thread: true },
    { ...writer, thread: true, input_items: [{ type: 'asset_reference', asset_id, file_name: 'Plan.JSON' }] },
    { ...ann, content: 'five', sender_display_name: 'Miss Ann' },
  ]) {
    const { thread, ...rest } = { thread: false, ...body }
    ids.push((await said(daemon, 'c', { ...rest, ...(thread && { thread_root_message_id: ids[0] }) })).message_id)
  }
  const far = (await said(daemon, 'd', { ...ann, content: 'far' })).message_id
  for (const [query, found] of [
    ['', [0, 1, 2, 3, 4]],
    ['?limit=2', [3, 4]],
    ['?limit=5000', [0, 1, 2, 3, 4]],
    [`?limit=2&before=${ids[3]}`, [1, 2]],
    [`?before=${ids[0]}`, []],
    [`?thread_root_message_id=${ids[0]}`, [0, 2, 3]],
    [`?thread_root_message_id=${ids[0]}&limit=1&before=${ids[3]}`, [2]],
    [`?thread_root_message_id=${ids[2]}`, []],
    ['?thread_root_message_id=none', []],
    [`?thread_root_message_id=${far}`, []],
    ['?query=%20gr%C3%BCn%20', [0]],
    ['?query=THE%20WRITER', [1, 3]],
    ['?query=plan.json', [3]],
    ['?query=miss', [4]],
    ['?query=ann&limit=2', [2, 4]],
    [`?query=w&thread_root_message_id=${ids[0]}`, [3]],
    ['?query=nothing', []],
  ] as const)
    t.deepEqual(
      (await read(daemon, `${path}${query}`)).map(({ message_id }: any) => ids.indexOf(message_id)),
      [...found],
      query,
    )
  t.deepEqual(codeOf(await daemon.request('GET', `${path}?limit=0`)), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await daemon.request('GET', `${path}?before=${far}`)), [404, 'channel_message_not_found'])
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/channels/none/messages')), [404, 'channel_not_found'])
  const { channels } = lent.services()
  const [root = '', two, , four] = ids
  t.deepEqual(
    channels.messages({ channel_id: 'c', limit: 9, ofSessions: true }).map(({ message_id }) => message_id),
    [four, two],
  )
  t.deepEqual(
    channels
      .messages({ channel_id: 'c', root_message_id: root, limit: 9, ofSessions: true })
      .map((one) => one.message_id),
    [four],
  )
  t.like(channels.spoken(root), { 0: { session_id: 'writer', message_id: four }, length: 1 })
  await daemon.request('POST', `${path}/${ids[2]}/reactions`, { actor_id: 'w', emoji: 'x' })
  t.deepEqual([...channels.reactedSince(root, ids[2] ?? '')], ['writer'])
  t.deepEqual([...channels.reactedSince(root, four ?? '')], [])
})

test('channels-21: a list without a limit has the newest thousand', async (t) => {
  const lent = lender({ channels: Channels })
  const daemon = await startTestDaemon(t, { plugins: [lent.plugin] })
  await channel(daemon, 'c', { members: [person('ann')] })
  await lent.context().state.commit((tx) => {
    for (let n = 0; n < 1_010; n += 1)
      lent.services().channels.post(tx, {
        channel_id: 'c',
        sender: { id: 'ann' },
        output: { content: `m${n}`, parts: [], artifacts: [] },
      })
  })
  const listed = await read(daemon, path)
  t.is(listed.length, 1_000)
  t.deepEqual([listed[0].output.content, listed[999].output.content], ['m10', 'm1009'])
})

test('channels-24: channels from the command line', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon, 'writer')
  const line = createCommandLine(daemon)
  const out = async (...words: string[]): Promise<string> => {
    const { code, out: printed, err } = await line('channels', ...words)
    t.is(code, 0, err)
    return printed
  }
  t.regex(await out('list'), /No channels yet/u)
  t.regex(
    await out(
      'create',
      'The garden',
      '--id',
      'garden',
      '--mode',
      'always_listen',
      '--policy',
      '{"max_pending_stimuli":5}',
    ),
    /^garden {2}The garden/u,
  )
  t.regex(await out('list', '--query', 'GARD'), /garden/u)
  t.regex(await out('update', 'garden', '--title', 'Beds', '--pause'), /Beds.*paused/u)
  t.notRegex(await out('update', 'garden', '--resume'), /paused/u)
  t.like(JSON.parse(await out('get', 'garden', '--output', 'json')), {
    autonomy_policy: { max_pending_stimuli: 5 },
    default_participation_mode: 'always_listen',
  })
  t.regex(await out('members', 'list', 'garden'), /Nobody/u)
  t.regex(await out('members', 'add', 'garden', 'ann', '--name', 'Ann'), /ann {2}Ann {2}a person/u)
  t.regex(await out('members', 'add', 'garden', 'w', '--session', 'writer', '--muted'), /session writer.*muted/u)
  t.is((await out('members', 'list', 'garden')).trim().split('\n').length, 2)
  const message = JSON.parse(await out('post', 'garden', 'ann', 'Hello', '--to', 'w,ann', '--output', 'json'))
  t.deepEqual(message.addressed_member_ids, ['w', 'ann'])
  t.regex(
    await out('post', 'garden', 'w', 'two\nlines', '--session', 'writer', '--thread', message.message_id),
    /in the thread of/u,
  )
  // A person says no name: the member's stands there, and not the id.
  t.regex(await out('react', 'garden', message.message_id, 'ann', '👍'), / {2}Ann\n[^]*👍 1/u)
  t.regex(await out('unreact', 'garden', message.message_id, 'ann', '👍'), / {2}Ann\n/u)
  t.regex(await out('post', 'garden', 'ann', 'Hm', '--thread', message.message_id), / {2}Ann\n {4}in the thread of/u)
  const whole = await out('get', 'garden')
  for (const part of [
    /^garden {2}Beds {2}2 members {2}3 messages\n/u,
    /\nMembers:\n {2}ann {2}Ann {2}a person {2}always_listen\n {2}w {2}w {2}session writer {2}always_listen {2}muted\n/u,
    /\nPolicy:\n[^]* {2}max_pending_stimuli 5\n/u,
    /\nCounts:\n {2}active_turn_lease_count 0\n/u,
  ])
    t.regex(whole, part)
  t.regex(await out('messages', 'list', 'garden'), /^message_\S+ {2}\S+Z {2}Ann\n {2}Hello\n/u)
  const both = await line('channels', 'update', 'garden', '--resume', '--pause')
  t.deepEqual([both.code, /flags_together/u.test(both.err)], [2, true])
  t.regex(await out('react', 'garden', message.message_id, 'ann', '👍'), /👍 1/u)
  t.regex(
    await out(
      'messages',
      'list',
      'garden',
      '--limit',
      '1',
      '--before',
      (await read(daemon, '/v1/channels/garden/messages'))[1].message_id,
    ),
    /Hello\n {2}👍 1/u,
  )
  t.regex(
    await out('messages', 'list', 'garden', '--thread', message.message_id, '--query', 'lines'),
    /two\n {2}lines/u,
  )
  t.notRegex(await out('unreact', 'garden', message.message_id, 'ann', '👍'), /👍/u)
  t.regex(await out('members', 'remove', 'garden', 'w'), /w is in the channel no longer/u)
  t.regex(await out('delete', 'garden'), /garden is removed/u)
  const refused = await line('channels', 'update', 'garden', '--title', ' ')
  t.is(refused.code, 1)
})
