import test from 'ava'
import { createLatch } from '../../../support/latch.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { message, startBot, type BotDaemon } from '../telegram/telegram-bot.js'
import { done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

const press = (daemon: BotDaemon, from: number, data: string) =>
  daemon.hook({
    update_id: 9000 + from,
    callback_query: {
      id: `press-${from}`,
      from: { id: from, is_bot: false, first_name: 'Somebody' },
      message: { message_id: 1, date: 1_710_000_000, chat: { id: 1111, type: 'private' }, text: '…' },
      data,
    },
  })

test('live-14, live-16, live-19: at a Bot API a button of an allowed user decides, and its message says so', async (t) => {
  const world = createWorld()
  const daemon = await startBot(t, { plugins: [effectTools(world)] })
  const { api } = daemon
  t.is((await daemon.put('bot', { approver_ids: ['77'] })).status, 200)
  t.is((await daemon.hook(message('/tool mcp__pay {"what":"*a*"}'))).status, 200)
  const buttons = (): any[] =>
    api.of('sendMessage').flatMap(({ fields }: any) => fields.reply_markup?.inline_keyboard?.flat() ?? [])
  await api.until(() => buttons().length > 0, 'buttons')
  t.deepEqual(
    buttons().map((button) => button.text),
    ['Allow', 'Deny'],
  )
  t.true(buttons().every((button) => Buffer.byteLength(button.callback_data) <= 64))
  const answers = (): any[] => api.of('answerCallbackQuery').map(({ fields }: any) => fields.text)
  await press(daemon, 88, buttons()[0].callback_data)
  await api.until(() => answers().length === 1, 'the answer to a stranger')
  t.deepEqual([answers(), world.calls], [['You are not allowed to decide on this.'], []])
  await press(daemon, 77, buttons()[0].callback_data)
  await api.until(() => world.calls.length === 1, 'the call')
  await api.until(() => api.of('editMessageText').length === 1, 'the end of the buttons')
  await api.until(() => api.of('sendMessage').length === 2, 'the answer')
  t.deepEqual(world.calls, ['mcp__pay:*a*'])
})

test('live-1, live-8: at a Bot API a draft becomes the answer, with a typing sign meanwhile', async (t) => {
  const latch = createLatch()
  const model = scriptedProvider(async function* () {
    yield { type: 'text_delta', text: 'Begun' }
    await latch.wait()
    yield* [text('Begun and done.'), done()]
  })
  const daemon = await startBot(t, { plugins: [model.plugin], config: model.config })
  const { api } = daemon
  await daemon.put('bot', { stream_replies: true })
  await daemon.hook(message('Say it.'))
  await api.until(() => api.of('sendMessage').length === 1, 'the draft')
  t.true(api.of('sendChatAction').length > 0)
  latch.open()
  await api.until(() => api.of('editMessageText').length === 1, 'the answer')
  const [edit]: any[] = api.of('editMessageText')
  t.is(edit.fields.text, 'Begun and done.')
  t.is(api.of('sendMessage').length, 1)
})
