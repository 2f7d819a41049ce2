/** Updates by webhook, on one daemon; docs/rules/telegram.md. */
import test from 'ava'
import { codeOf, until } from '../../../support/runs.js'
import { message, opened, secret, startBot, token } from './telegram-bot.js'

test('telegram-5, telegram-6, telegram-7, telegram-8, telegram-9, telegram-10, telegram-11, telegram-12, telegram-13, telegram-14, telegram-15: updates become runs once each, and what is refused is told as it is', async (t) => {
  const bot = await startBot(t)
  const { api, put, hook, request } = bot
  t.is((await put('bot')).status, 200)

  const hello = message('Hello')
  const first = await hook(hello)
  t.is(first.status, 200)
  t.like(first.body, {
    session_id: 'telegram:bot:1111',
    request: { source_plugin: 'telegram', source_kind: 'bot', actor_id: '77' },
  })
  t.is(first.body.input_metadata, undefined, 'telegram-9: outsiders are told no more than the shape needs')
  const again = await hook({ ...hello, message: { ...(hello['message'] as object), new_field: { of: 'them' } } })
  t.is(again.status, 200, 'telegram-7: unknown fields do not matter')
  t.is(again.body.run_id, first.body.run_id)
  const other = await hook({ ...hello, message: { ...(hello['message'] as object), text: 'Hello?' } })
  t.like(other, { status: 409, body: { code: 'conflict', reason: 'other_payload', run_id: first.body.run_id } })

  const run = await until(bot, first.body.run_id, 'completed')
  t.like(run.input_metadata, {
    update_id: hello['update_id'],
    message: { text: 'Hello', chat: { id: 1111 }, from: { id: 77 } },
  })
  t.regex(run.input_metadata.telegram_ingress_fingerprint, /^[0-9a-f]{64}$/u)
  t.truthy(run.input_metadata.connector_ingress_key)
  t.is(run.input_metadata.message.date, undefined, 'telegram-7: only what is known is kept')
  await api.until(() => api.of('sendMessage').length === 1, 'the answer')
  t.deepEqual(api.of('sendMessage')[0]?.fields, {
    chat_id: 1111,
    message_thread_id: null,
    reply_to_message_id: (hello['message'] as { message_id: number }).message_id,
    text: 'You said: Hello',
  })

  const kinds = [
    [{ edited_message: message('Hello!')['message'] }, 'edited_message', 'Hello!'],
    [
      { callback_query: { id: 'cb1', from: { id: 78 }, data: 'yes', message: message('?')['message'] } },
      'callback_query',
      'yes',
    ],
    [message('', { text: undefined, caption: 'A caption', from: undefined }), 'bot', 'A caption'],
  ] as const
  const actors: string[] = []
  for (const [update, kind, text] of kinds) {
    const told = await hook({ update_id: 9000 + actors.length, ...update })
    t.like(told.body.request, { source_plugin: 'telegram', source_kind: kind })
    actors.push(told.body.request.actor_id)
    t.like(await until(bot, told.body.run_id, 'completed'), { outputs: [{ content: `You said: ${text}` }] })
  }
  t.deepEqual(actors, ['77', '78', 'telegram-user'])
  await api.until(() => api.of('answerCallbackQuery').length === 1, 'the answer of the button')
  t.deepEqual(api.of('answerCallbackQuery')[0]?.fields, { callback_query_id: 'cb1' })
  const pressed = await hook({ update_id: 9001, ...kinds[1][0] })
  t.is(pressed.status, 200)

  const topic = message('In a topic', { chat: { id: -1_002_251_799_813_685 }, message_thread_id: 7 })
  const inTopic = await hook(topic)
  t.is(inTopic.body.session_id, 'telegram:bot:-1002251799813685:7')
  await api.until(() => api.calls.some(({ fields }) => fields['message_thread_id'] === 7), 'the answer in its topic')
  t.is(api.of('answerCallbackQuery').length, 1, 'telegram-14: a duplicate is not answered again')

  const without = { text: undefined, from: undefined }
  for (const update of [
    { my_chat_member: {} },
    { message: message('', { ...without, sticker: { file_id: 's' } })['message'] },
    { message: message('', { ...without, new_chat_members: [{ id: 5 }] })['message'] },
    { edited_message: message('', { ...without, location: {} })['message'] },
  ]) {
    const { status, body } = await hook({ update_id: 9100, ...update })
    const skipped = { accepted: true, skipped: true, reason: 'unsupported_update', update_id: 9100 }
    t.deepEqual([status, body], [200, skipped], JSON.stringify(update))
  }
  const nothing = bot.log.filter(({ fact }) => fact === 'a telegram update carries nothing for a run')
  t.like(nothing, [{ details: { connector: 'bot', reason: 'unsupported_update', count: 1 } }], 'once in 30 s')
  const headers = { 'x-telegram-bot-api-secret-token': secret }
  const refused: [object | string, number, string?][] = [
    [{ message: hello['message'] }, 400, 'update_id_missing'],
    [message('  '), 400, 'message_empty'],
    [{ update_id: 9102, callback_query: { id: 'x', from: { id: 1 }, data: 'd' } }, 400, 'callback_invalid'],
    [
      { update_id: 9103, callback_query: { id: 'x', from: { id: 1 }, message: hello['message'] } },
      400,
      'callback_invalid',
    ],
    [{ update_id: 'one' }, 422],
    [{ update_id: 1, message: { text: 'no chat' } }, 422],
    ['{"update_id": 9007199254740993}', 422],
    ['{"update_id": 1', 400],
  ]
  for (const [update, status, reason] of refused) {
    const told = await request('POST', '/v1/connectors/telegram/bot', update, {
      ...headers,
      'content-type': 'application/json',
    })
    t.is(told.status, status, JSON.stringify(told.body))
    t.is(told.body.domain, 'connector_ingress')
    if (reason !== undefined) t.is(told.body.reason, reason)
  }
  t.is((await hook(hello, { headers: { ...headers, 'content-type': 'text/plain' } })).status, 415)
  t.deepEqual(codeOf(await hook(hello, { name: 'nobody' })), [404, 'not_found'])
  for (const wrong of [{}, { 'x-telegram-bot-api-secret-token': `${secret}x` }])
    t.deepEqual(codeOf(await hook(hello, { headers: wrong })), [401, 'unauthorized'])

  await put('polls', { ingress_mode: 'polling', polling_timeout_seconds: 1 })
  t.deepEqual(codeOf(await hook(hello, { name: 'polls', headers: {} })), [409, 'conflict'])
  await request('DELETE', '/v1/runtime/connectors/telegram/polls')

  await put('some', { allowed_chat_ids: [5, 3, 5], ingress_events_per_second: 0 })
  t.like((await request('GET', '/v1/runtime/connectors/telegram/some')).body, {
    allowed_chat_ids: [3, 5],
    ingress_events_per_second: 1,
  })
  t.like(await hook(message('x'), { name: 'some' }), { status: 400, body: { reason: 'chat_not_allowed' } })
  const allowed = message('x', { chat: { id: 3 } })
  t.is((await hook(allowed, { name: 'some' })).status, 200)
  const limited = await hook(message('y', { chat: { id: 3 } }), { name: 'some' })
  t.like(limited, { status: 429, body: { code: 'telegram_ingress_rate_limited' } })
  t.true(limited.body.retry_after_ms > 0)
  t.is(limited.headers['retry-after'], '1')
  t.is((await hook(allowed, { name: 'some' })).status, 200, 'telegram-11: what is known costs nothing of the rate')

  await put('open', { secret_token: {}, allow_unauthenticated_ingress: true, session_policy: null })
  t.like(await hook(message('x'), { name: 'open', headers: {} }), { status: 409, body: { reason: 'session_missing' } })
  await put('fixed', { fixed_session_id: 'desk', ...opened })
  t.is((await hook(message('x'), { name: 'fixed' })).body.session_id, 'desk')

  for (const empty of ['bot_token', 'secret_token'])
    t.is((await put('empty', { [empty]: { value: '' } })).status, 400, 'telegram-2: an empty token is refused')
  const also = (connector: string, chat_id: number) => [{ type: 'telegram', connector, chat_id }]
  t.is((await put('some', { additional_reply_targets: also('some', 9) })).status, 400, 'telegram-4')
  t.is((await put('some', { additional_reply_targets: also('some', 5) })).status, 200)
  await put('fixed', { additional_reply_targets: also('fixed', 2222), additional_binding_keys: ['desk-key'] })
  const before = api.of('sendMessage').length
  await hook(message('to both'), { name: 'fixed' })
  const both = () => api.of('sendMessage').slice(before)
  await api.until(() => both().length === 2, 'both answers')
  const chats = both().map(({ fields }) => [fields['chat_id'], fields['text']])
  t.deepEqual(chats.toSorted(), [
    [1111, 'You said: to both'],
    [2222, 'You said: to both'],
  ])
  const targets = (await request('GET', '/v1/runtime/connectors/telegram/fixed')).body.additional_reply_targets
  t.is(targets.length, 1)
  await put('keyed', { additional_binding_keys: ['desk-key'] })
  t.is((await hook(message('x'), { name: 'keyed' })).body.session_id, 'desk', 'telegram-14: bound by its key')

  t.false(JSON.stringify(bot.log).includes(token))
  t.false(JSON.stringify(bot.log).includes(secret))
})
