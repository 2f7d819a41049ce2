/** What a chat shows while a run works, on one daemon; docs/rules/telegram.md. */
import test from 'ava'
import { createWorld, effectTools } from '../../../support/effects.js'
import { until } from '../../../support/runs.js'
import { message, startBot } from './telegram-bot.js'

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
})
