/** Answers on their way out; docs/rules/telegram.md. */
import test from 'ava'
import type { Envelope } from '../../../../plugins/execution/deliveries/contract.js'
import type { AttachmentRef } from '../../../../plugins/media/assets/contract.js'
import { chunksOf, stepsOf } from '../../../../plugins/connectors/telegram/output/steps.js'
import { telegramReply } from '../../../../plugins/connectors/telegram/output/reply.js'
import {
  cutting,
  doneAndCut,
  failing,
  first,
  flood,
  garbage,
  hanging,
  type Answerer,
} from '../../../support/telegram/bot-api.js'
import { checkReply } from '../../../conform/reply.js'
import { connectorOf, startParts, token } from './telegram-parts.js'

const address = (more: object = {}, connector = 'bot'): string => JSON.stringify({ connector, chat_id: 1111, ...more })
const envelopeOf = (more: Partial<Envelope> = {}): Envelope => ({
  delivery_id: 'delivery_1',
  attempt: 1,
  session_id: 's1',
  thread_id: null,
  address: address({ message_thread_id: 7, reply_to_message_id: 3 }),
  content: 'hello',
  parts: [],
  artifacts: [],
  metadata: {},
  ...more,
})
const file = (id: string, media_type: string): AttachmentRef => ({
  id,
  media_type,
  uri: `asset://${id}`,
  file_name: `${id}"\r\nx: y.bin`,
})
const { signal } = new AbortController()

test('telegram-16: text is cut behind 4,096 Unicode scalars, and each message is a step', (t) => {
  const emoji = '\u{1F600}'
  t.deepEqual(
    chunksOf(emoji.repeat(4097)).map((chunk) => Array.from(chunk).length),
    [4096, 1],
  )
  t.deepEqual(chunksOf(`a\uD800`), ['a\uFFFD'])
  t.deepEqual(chunksOf(''), [])
  const keys = (more: Partial<Envelope>) => stepsOf(envelopeOf(more)).map(({ key }) => key)
  t.deepEqual(keys({ content: 'x'.repeat(8193) }), ['content:chunk:0', 'content:chunk:1', 'content:chunk:2'])
  t.deepEqual(keys({ content: ' \n' }), [])
  const [picture, sound] = [file('asset_1', 'image/png'), file('asset_2', 'audio/mpeg')]
  const parts = [
    { type: 'text' as const, text: 'a' },
    { type: 'attachment' as const, attachment: picture },
    { type: 'text' as const, text: 'b' },
  ]
  t.deepEqual(keys({ content: 'not this', parts, artifacts: [picture, sound] }), [
    'text:0:chunk:0',
    'attachment:1:asset_1',
    'text:2:chunk:0',
    'attachment:3:asset_2',
  ])
})

test('telegram-15: a telegram target keeps what every reply plugin must', async (t) => {
  const parts = await startParts(t)
  parts.api.on('sendMessage', ({ call, work, response }) =>
    call.fields['chat_id'] === 2222
      ? hanging({ call, work, response, count: 0 })
      : first(99, passing)({ call, work, response, count: 1 }),
  )
  const reply = telegramReply(parts)
  await checkReply(t, {
    reply,
    requests: [[{ type: 'telegram', connector: 'bot', chat_id: 1111 }, address()]],
    good: '{"chat_id":1111,"connector":"bot","message_thread_id":null}',
    silent: JSON.stringify({ connector: 'bot', chat_id: 2222 }),
    refused: ['https://api.telegram.org', '{"connector":"bot"}', '{"connector":"nobody","chat_id":1}'],
    secrets: [token, '1111', '2222'],
  })
  t.is(parts.api.calls.filter(({ fields }) => fields['chat_id'] === 1111).length, 2, 'one message for each delivery')
  t.is(reply.target(address()), 'telegram:bot:chat_sha256:0ffe1abd1a082153')
})
const passing: Answerer = async ({ response, work }) => {
  const { status, body } = await work()
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

test('telegram-16, telegram-17: what was sent is not sent again, and files go as what they are', async (t) => {
  const bytes = Buffer.from([0, 1, 13, 10, 255])
  const files = new Map(['png', 'mp3', 'pdf'].map((id) => [id, bytes]))
  const parts = await startParts(t, { files })
  const { api, kept } = parts
  const reply = telegramReply(parts)
  const attachments = [file('png', 'image/png'), file('mp3', 'audio/mpeg'), file('pdf', 'application/pdf')]
  const envelope = envelopeOf({
    parts: [
      { type: 'text', text: `*${'x'.repeat(4096)}` },
      ...attachments.map((attachment) => ({ type: 'attachment' as const, attachment })),
    ],
  })
  api.on('sendAudio', first(1, failing(502, 'Bad Gateway')))
  t.deepEqual(await reply.deliver(envelope, signal), { type: 'retry', code: 'http_status_502', uncertain: true })
  t.deepEqual(kept.get('delivery_1'), {
    steps: Object.fromEntries(
      ['text:0:chunk:0', 'text:0:chunk:1', 'attachment:1:png'].map((key) => [key, { sent: true }]),
    ),
  })
  t.deepEqual(await reply.deliver({ ...envelope, attempt: 2 }, signal), { type: 'delivered' })
  const methods = api.calls.map(({ method }) => method)
  t.deepEqual(methods, ['sendMessage', 'sendMessage', 'sendPhoto', 'sendAudio', 'sendAudio', 'sendDocument'])
  for (const [method, part] of [
    ['sendPhoto', 'photo'],
    ['sendAudio', 'audio'],
    ['sendDocument', 'document'],
  ] as const) {
    const sent = api.of(method).at(-1)
    t.deepEqual(sent?.fields, { chat_id: 1111, message_thread_id: 7, reply_to_message_id: 3 }, 'no caption')
    t.deepEqual(sent?.files[part]?.bytes, bytes)
    t.false(/[\r\n]/u.test(sent?.files[part]?.file_name ?? '\n'))
  }
  t.deepEqual(Object.keys(api.of('sendMessage')[0]?.fields ?? {}).toSorted(), [
    'chat_id',
    'message_thread_id',
    'reply_to_message_id',
    'text',
  ])
  t.deepEqual(await reply.deliver({ ...envelope, attempt: 3 }, signal), { type: 'delivered' })
  t.is(api.calls.length, methods.length, 'nothing is sent again')
  kept.set('delivery_2', { steps: 'damaged' })
  t.like(await reply.deliver(envelopeOf({ delivery_id: 'delivery_2' }), signal), { type: 'terminal' })
  const gone = envelopeOf({ delivery_id: 'delivery_3', artifacts: [file('gone', 'image/png')], content: '' })
  t.deepEqual(await reply.deliver(gone, signal), { type: 'terminal', code: 'telegram_file_missing' })
})

test('telegram-18, telegram-19: each failure has its class, and none tells the token', async (t) => {
  const parts = await startParts(t, {
    connectors: (api_base_url) => [
      connectorOf({ api_base_url }),
      connectorOf({ api_base_url, allowed_chat_ids: [5] }, { bot_token: token }, 'some'),
      connectorOf({ api_base_url, include_self_output: false }, {}, 'mute'),
      connectorOf({ api_base_url }, { bot_token: '42:wrong' }, 'wrong'),
      connectorOf({ api_base_url: 'http://10.0.0.1/' }, { bot_token: token }, 'inner'),
      connectorOf({ api_base_url: `${api_base_url}/bot` }, { bot_token: token }, 'ends-with-bot'),
    ],
  })
  const { api } = parts
  const reply = telegramReply(parts)
  let number = 0
  const outcomeOf = (more: Partial<Envelope> = {}) =>
    reply.deliver(envelopeOf({ delivery_id: `delivery_${(number += 1)}`, ...more }), signal)
  const bad = (what: string) => failing(400, `Bad Request: ${what}`)
  const classes: [Answerer, object][] = [
    [flood({ header: '7', body: 3 }), { type: 'retry', code: 'telegram_rate_limited', retry_after_ms: 7000 }],
    [flood({ body: 3 }), { type: 'retry', code: 'telegram_rate_limited', retry_after_ms: 3000 }],
    [flood({ body: 99_999 }), { type: 'retry', code: 'telegram_rate_limited', retry_after_ms: 3_600_000 }],
    [flood({}), { type: 'retry', code: 'telegram_error_429' }],
    [failing(401, 'Unauthorized'), { type: 'terminal', code: 'telegram_token_refused' }],
    [failing(403, 'Forbidden: bot was blocked by the user'), { type: 'terminal', code: 'telegram_chat_forbidden' }],
    [bad('message is too long'), { type: 'terminal', code: 'telegram_message_too_long' }],
    [bad('chat not found'), { type: 'terminal', code: 'telegram_chat_not_found' }],
    [bad('message thread not found'), { type: 'terminal', code: 'telegram_thread_not_found' }],
    [bad('bot was blocked by the user'), { type: 'terminal', code: 'telegram_bot_blocked' }],
    [bad(`something about ${token}`), { type: 'retry', code: 'telegram_error_400' }],
    [failing(500, 'Internal Server Error'), { type: 'retry', code: 'http_status_500', uncertain: true }],
    [garbage, { type: 'retry', code: 'http_status_200', uncertain: true }],
    [cutting, { type: 'retry', code: 'outbound_connection_broken', uncertain: true }],
    [doneAndCut, { type: 'retry', code: 'outbound_connection_broken', uncertain: true }],
  ]
  for (const [answer, expected] of classes) {
    api.on('sendMessage', answer)
    t.deepEqual(await outcomeOf(), expected)
  }
  api.on('sendMessage', first(classes.length + 1, bad('message to be replied not found')))
  t.deepEqual(await outcomeOf(), { type: 'delivered' })
  t.deepEqual(
    api
      .of('sendMessage')
      .slice(-2)
      .map(({ fields }) => fields['reply_to_message_id']),
    [3, null],
  )
  api.on('sendMessage', undefined)
  const elsewhere = (connector: string) => outcomeOf({ address: address({}, connector) })
  t.deepEqual(await elsewhere('some'), { type: 'terminal', code: 'telegram_chat_not_allowed' })
  t.deepEqual(await elsewhere('mute'), { type: 'terminal', code: 'telegram_bot_token_missing' })
  t.deepEqual(await elsewhere('nobody'), { type: 'terminal', code: 'telegram_connector_missing' })
  t.deepEqual(await elsewhere('wrong'), { type: 'terminal', code: 'telegram_token_refused' })
  t.is(parts.troubles.at(-1)?.[0], 'wrong')
  t.like(parts.troubles.at(-1)?.[1], { state: 'degraded' })
  t.deepEqual(await elsewhere('inner'), { type: 'terminal', code: 'outbound_address_refused' })
  t.deepEqual(await elsewhere('ends-with-bot'), { type: 'delivered' })
  t.is(api.calls.at(-1)?.path, `/bot${token}/sendMessage`)
  t.false(JSON.stringify(parts.logged).includes(token))
})

test('telegram-27: the draft of an answer becomes its first message', async (t) => {
  let draft: string | undefined
  const parts = await startParts(t, { draft: () => draft })
  const { api } = parts
  const reply = telegramReply(parts)
  const sent = await reply.deliver(envelopeOf({ content: 'Hel' }), signal)
  t.is(sent.type, 'delivered')
  draft = '1111:1'
  const whole = envelopeOf({ delivery_id: 'delivery_2', content: `Hello${'!'.repeat(4096)}` })
  t.deepEqual(await reply.deliver(whole, signal), { type: 'delivered' })
  t.deepEqual(
    api.calls.map(({ method }) => method),
    ['sendMessage', 'editMessageText', 'sendMessage'],
  )
  t.like(api.of('editMessageText')[0]?.fields, { chat_id: 1111, message_id: 1, reply_markup: { inline_keyboard: [] } })
  t.deepEqual(await reply.deliver({ ...whole, delivery_id: 'delivery_3' }, signal), { type: 'delivered' })
  draft = '1111:404'
  t.deepEqual(await reply.deliver(envelopeOf({ delivery_id: 'delivery_4' }), signal), { type: 'delivered' })
  t.deepEqual(api.calls.map(({ method }) => method).slice(-2), ['editMessageText', 'sendMessage'])
})
