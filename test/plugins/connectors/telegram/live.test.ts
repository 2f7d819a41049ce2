/** What a chat shows while a run works, on one daemon; docs/rules/telegram.md. */
import test from 'ava'
import { createWorld, effectTools } from '../../../support/effects.js'
import { until } from '../../../support/runs.js'
import { approversOf } from '../../../../plugins/connectors/telegram/bot/settings.js'
import { connectorOf } from './telegram-parts.js'
import { failing, first, type Answerer } from '../../../support/telegram/bot-api.js'
import { message, startBot, token } from './telegram-bot.js'

const noThread = async () => ({
  status: 400,
  body: { ok: false, error_code: 400, description: 'Bad Request: message thread not found' },
})

/** One red point. */
const jpeg = Buffer.from(
  [
    '/9j/2wBDAP//////////////////////////////////////////////////////////////////////////////////////2wBD',
    'Af//////////////////////////////////////////////////////////////////////////////////////wAARCAABAAED',
    'ASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFQEBAQAAAAAAAAAAAAAAAAAA',
    'AQP/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCQAo//2Q==',
  ].join(''),
  'base64',
)

test('telegram-12, telegram-26, telegram-28: files come, a sign is shown, and the buttons of an approval decide', async (t) => {
  const world = createWorld()
  const bot = await startBot(t, { plugins: [effectTools(world)] })
  const { api, put, hook, request } = bot
  await put('bot', { approver_ids: ['77'] })

  api.keep('big', { path: 'photos/file 1.jpg', bytes: jpeg })
  api.keep('doc', { path: 'documents/a.txt', bytes: Buffer.from('words in a file') })
  const photo = [
    { file_id: 'small', file_unique_id: 's', width: 10, height: 10, file_size: 100 },
    { file_id: 'big', file_unique_id: 'b', width: 1, height: 1, file_size: 200 },
  ]
  const document = { file_id: 'doc', file_unique_id: 'd', file_name: '../a.txt', mime_type: 'text/plain' }
  const withFiles = await hook(message('', { text: undefined, caption: 'Look', photo: undefined, document }))
  t.is(withFiles.status, 200, JSON.stringify(withFiles.body))
  const pictured = await hook(message('', { text: undefined, photo }))
  t.is(pictured.status, 200, JSON.stringify(pictured.body))
  await api.until(() => api.of('sendMessage').length === 2, 'the answers')
  t.deepEqual(
    api
      .of('getFile')
      .map(({ fields }) => fields['file_id'])
      .toSorted(),
    ['big', 'doc'],
    'the largest photo',
  )
  const { body: assets } = await request('GET', '/v1/assets')
  t.deepEqual(assets.map(({ file_name: name }: any) => name).toSorted(), ['_a.txt', 'telegram-photo-big.jpg'])

  const asked = await hook(message('/tool mcp__pay {}'))
  await until(bot, asked.body.run_id, 'waiting_for_approval')
  const buttons = () => api.of('sendMessage').filter(({ fields }) => fields['reply_markup']?.inline_keyboard)
  await api.until(() => buttons().length > 0, 'the buttons')
  t.true(api.of('sendChatAction').length > 0, 'telegram-26')
  t.deepEqual(api.of('sendChatAction')[0]?.fields, { chat_id: 1111, action: 'typing' })
  const rows: any[] = buttons()[0]?.fields['reply_markup'].inline_keyboard ?? []
  const tokens: string[] = rows.flat().map(({ callback_data: data }: any) => data)
  t.true(tokens.every((data) => data.startsWith('live:') && Buffer.byteLength(data) <= 64))
  const press = (id: string, from: number) => ({
    update_id: 8000 + from,
    callback_query: { id, from: { id: from }, data: tokens[0], message: message('?')['message'] },
  })
  t.like((await hook(press('p1', 78))).body, { accepted: true, skipped: true, reason: 'live_reply' })
  t.deepEqual(world.calls, [], 'telegram-28: a stranger decides nothing')
  await hook(press('p2', 77))
  await until(bot, asked.body.run_id, 'completed')
  t.deepEqual(world.calls, ['mcp__pay:it'])
  await api.until(() => api.of('answerCallbackQuery').length === 2, 'both are answered')
  t.true(api.of('answerCallbackQuery').every(({ fields }) => String(fields['text']).length > 0))
  await api.until(() => api.of('editMessageText').length > 0, 'the buttons go')

  const texts = () => api.of('sendMessage').map(({ fields }) => String(fields['text']))
  const long = await hook(message(`/tool mcp__pay {"what":"${'@a'.repeat(1400)}the end"}`))
  await until(bot, long.body.run_id, 'waiting_for_approval')
  await api.until(() => texts().at(-1)?.includes('mcp__pay') === true, 'a request that grows as it is sent')
  const [allow] = buttons().at(-1)?.fields['reply_markup'].inline_keyboard.flat() ?? []
  t.is(allow.text, 'Deny', 'nothing is allowed that is not shown whole')

  const thread: Answerer = (asked) =>
    first(
      0,
      failing(400, ''),
    )(asked.call.fields['message_thread_id'] === undefined ? asked : { ...asked, work: noThread })
  for (const method of ['sendMessage', 'sendChatAction']) api.on(method, thread)
  const replied = await hook(message('/tool mcp__pay {}', { chat: { id: -1007 }, message_thread_id: 12 }))
  await until(bot, replied.body.run_id, 'waiting_for_approval')
  const inGroup = (method: string) =>
    api.of(method).some(({ fields }) => fields['chat_id'] === -1007 && fields['message_thread_id'] === undefined)
  await api.until(() => inGroup('sendMessage') && inGroup('sendChatAction'), 'in the thread of a reply, too')
  for (const method of ['sendMessage', 'sendChatAction']) api.on(method, undefined)

  await put('bot', { approver_ids: ['77'], secret_token: {}, allow_unauthenticated_ingress: true })
  const open = await hook(message('/tool mcp__pay {}', { chat: { id: 3 } }), { headers: {} })
  await until(bot, open.body.run_id, 'waiting_for_approval')
  await api.until(() => texts().at(-1) === 'An operator has to decide on this.', 'nobody is proven')
})

test('telegram-29: where nothing proves who sends, nobody decides in the chat, whoever he says he is', async (t) => {
  const world = createWorld()
  const bot = await startBot(t, { plugins: [effectTools(world)] })
  const { api, put, hook } = bot
  const headers = {}
  await put('bot', { approver_ids: ['77'], secret_token: {}, allow_unauthenticated_ingress: true })

  const options = [{ label: 'Red' }, { label: 'Blue' }]
  const question = { header: 'Which', question: 'Which one?', options, multi_select: false }
  const asked = await hook(message(`/tool ask_user_question ${JSON.stringify({ questions: [question] })}`), { headers })
  await until(bot, asked.body.run_id, 'waiting_for_user_question')
  await api.until(() => api.of('sendMessage').length > 0, 'the message of the question')
  t.is(api.of('sendMessage')[0]?.fields['text'], 'An operator has to decide on this.')
  t.is(api.of('sendMessage')[0]?.fields['reply_markup'], undefined)
  for (let message_id = 1; message_id < 5; message_id += 1)
    await hook(message('mine', { reply_to_message: { message_id } }), { headers })
  t.is((await bot.request('GET', `/v1/runs/${asked.body.run_id}`)).body.status, 'waiting_for_user_question')

  t.deepEqual(approversOf(connectorOf({ approver_ids: ['77'] })), ['77'])
  t.deepEqual(approversOf(connectorOf({ approver_ids: ['77'] }, { bot_token: token })), [])
  t.deepEqual(approversOf(connectorOf({ approver_ids: ['77'], ingress_mode: 'polling' }, { bot_token: token })), ['77'])
})
