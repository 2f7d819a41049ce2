/**
 * The Bot API of our tests is one for the clients that others wrote; and the connector works with one that nobody here
 * wrote.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import test from 'ava'
import { Bot, GrammyError, InputFile } from 'grammy'
import { Bot as NodeBot, InputFile as NodeFile, TelegramApiError } from 'node-telegram-bot-api'
import TelegramTestServer from 'telegram-test-api'
import { startBotApi, failing, first, flood } from '../../../support/telegram/bot-api.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { until } from '../../../support/runs.js'
import { createClock } from '../../../../core/base/clock.js'
import { settingsPath, token } from './telegram-bot.js'

const ada = { id: 77, is_bot: false, first_name: 'Ada' }
const chat = { id: 1111, type: 'private', first_name: 'Ada' }
const saying = (text: string, more: object = {}) => ({
  message: { message_id: 900, date: 1_710_000_000, chat, from: ada, text, ...more },
})

test('grammY runs a bot on the Bot API of the tests', async (t) => {
  const api = await startBotApi([token])
  t.teardown(api.close)
  api.keep('file_1', { path: 'documents/a.bin', bytes: Buffer.from('abc') })
  const bot = new Bot(token, { client: { apiRoot: api.base } })
  const seen: string[] = []
  bot.on('message:text', async (context) => {
    seen.push(context.message.text)
    await context.replyWithChatAction('typing')
    const sent = await context.reply(`Echo ${context.message.text}`)
    await bot.api.editMessageText(sent.chat.id, sent.message_id, 'Edited', {
      reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'yes' }]] },
    })
    await context.replyWithPhoto(new InputFile(Buffer.from('png'), 'a.png'))
    const file = await context.api.getFile('file_1')
    const read = await fetch(`${api.base}/file/bot${token}/${file.file_path}`)
    seen.push(await read.text())
  })
  bot.on('callback_query:data', async (context) => {
    seen.push(context.callbackQuery.data)
    await context.answerCallbackQuery('Done')
  })
  const ended = bot.start({ timeout: 5, allowed_updates: ['message', 'edited_message', 'callback_query'] })
  api.push(saying('Hello'))
  api.push({ callback_query: { id: 'c1', chat_instance: '1', from: ada, data: 'yes', ...saying('?') } })
  await api.until(() => api.of('answerCallbackQuery').length === 1, 'the callback')
  t.deepEqual(seen, ['Hello', 'abc', 'yes'])
  api.on('sendMessage', failing(403, 'Forbidden: bot was blocked by the user'))
  const error = await t.throwsAsync(bot.api.sendMessage(1, 'x'), { instanceOf: GrammyError })
  t.is(error instanceof GrammyError && error.error_code, 403)
  api.on('sendMessage', first(99, flood({ body: 3 })))
  const flooded = await t.throwsAsync(bot.api.sendMessage(1, 'x'), { instanceOf: GrammyError })
  t.is(flooded instanceof GrammyError && flooded.parameters.retry_after, 3)
  await bot.stop()
  await ended
  t.is(api.waiting(), 0, 'what was taken is confirmed')
})

test('node-telegram-bot-api runs a bot on it, and two who poll are in conflict', async (t) => {
  const api = await startBotApi([token])
  t.teardown(api.close)
  const bot = new NodeBot(token, { apiRoot: api.base })
  const heard: string[] = []
  bot.on('message', async ({ message }: any) => {
    heard.push(message.text)
    const { id: chat_id } = message.chat
    await bot.api.sendMessage({ chat_id, text: 'Heard', reply_parameters: { message_id: message.message_id } })
    const document = new NodeFile(Buffer.from('doc'), { filename: 'a.txt', contentType: 'text/plain' } as never)
    await bot.api.sendDocument({ chat_id, document })
  })
  const ended = bot.startPolling(undefined, { timeout: 5, retry: false })
  api.push(saying('Hello'))
  await api.until(() => api.of('sendMessage').length === 1 && api.of('sendDocument').length === 1, 'its answers')
  t.deepEqual(heard, ['Hello'])
  t.is(Object.values(api.of('sendDocument')[0]?.files ?? {})[0]?.bytes.toString(), 'doc')
  await api.until(() => api.of('getUpdates').length >= 2, 'its next poll')
  const other = new Bot(token, { client: { apiRoot: api.base } })
  t.deepEqual(await other.api.getUpdates({ timeout: 0 }), [])
  const error = await t.throwsAsync(ended, { instanceOf: TelegramApiError })
  t.regex(error?.message ?? '', /terminated by other getUpdates request/u)
})

const python = '/usr/bin/python3'
const script = `
import sys, warnings
warnings.filterwarnings('ignore')
import telegram
from telegram.error import RetryAfter, Unauthorized, BadRequest, Conflict
base, token = sys.argv[1:3]
bot = telegram.Bot(token, base_url=base + '/bot', base_file_url=base + '/file/bot')
print(bot.get_me().username)
for update in bot.get_updates(timeout=2, allowed_updates=['message', 'callback_query']):
    print(update.update_id, update.message.text)
    sent = bot.send_message(update.message.chat.id, 'Hi', reply_to_message_id=update.message.message_id)
    bot.edit_message_text('Ho', chat_id=sent.chat.id, message_id=sent.message_id)
    bot.send_chat_action(sent.chat.id, 'typing')
    bot.send_audio(sent.chat.id, b'ID3audio', filename='a.mp3')
print(bytes(bot.get_file('file_1').download_as_bytearray()).decode())
print(bot.answer_callback_query('c1'))
for chat in (404, 1):
    try:
        bot.send_message(chat, 'x')
    except (RetryAfter, Unauthorized, BadRequest) as error:
        print(type(error).__name__, error)
bot.set_webhook('http://127.0.0.1:9/')
try:
    bot.get_updates()
except Conflict as error:
    print(type(error).__name__)
`
const runPython = (args: readonly string[]): Promise<{ out: string; code: number | null }> =>
  new Promise((resolve) => {
    const child = spawn(python, ['-c', script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.once('close', (code) => resolve({ out, code }))
  })
const hasPython = (): Promise<boolean> =>
  new Promise((resolve) => {
    if (!existsSync(python)) return resolve(false)
    spawn(python, ['-c', 'import telegram']).once('close', (code) => resolve(code === 0))
  })

test('python-telegram-bot works on it', async (t) => {
  if (!(await hasPython())) {
    t.log('python3-python-telegram-bot is not installed: nothing was tried')
    return t.pass()
  }
  const api = await startBotApi([token])
  t.teardown(api.close)
  api.keep('file_1', { path: 'documents/a.bin', bytes: Buffer.from('abc') })
  const id = api.push(saying('Hello'))
  let count = 0
  const flooding = flood({ body: 3 })
  api.on('sendMessage', async (asked) => {
    count += 1
    if (Number(asked.call.fields['chat_id']) === 1) return flooding(asked)
    const { status, body } = await asked.work()
    asked.response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const { out, code } = await runPython([api.base, token])
  t.is(code, 0, out)
  t.deepEqual(out.trim().split('\n'), [
    'house_bot',
    `${id} Hello`,
    'abc',
    'True',
    'BadRequest Chat not found',
    'RetryAfter Flood control exceeded. Retry in 3.0 seconds',
    'Conflict',
  ])
  t.is(count, 3)
  t.is(api.of('sendAudio')[0]?.files['audio']?.bytes.toString(), 'ID3audio')
})

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

test('telegram-20, telegram-14: the connector works with a Bot API that nobody here wrote', async (t) => {
  const clock = createClock()
  const port = await freePort()
  const Server: any = TelegramTestServer
  const server = new (Server.default ?? Server)({ port, host: '127.0.0.1' })
  await server.start()
  t.teardown(() => server.stop())
  const client = server.getClient(token, { timeout: 5000 })
  const daemon = await startTestDaemon(t, { config: { telegram: { allow_cidrs: ['127.0.0.1/32'] } } })
  const put = (body: object) =>
    daemon.request('PUT', settingsPath('bot'), {
      bot_token: { value: token },
      api_base_url: `http://127.0.0.1:${port}`,
      session_policy: { create_if_missing: true },
      ...body,
    })
  t.is((await put({ ingress_mode: 'polling', polling_timeout_seconds: 1 })).status, 200)
  await client.sendMessage(client.makeMessage('Hello'))
  await client.sendCallback(client.makeCallbackQuery('pressed'))
  const texts = (): string[] => server.storage.botMessages.map(({ message }: any) => message.text)
  const deadline = clock.elapsed() + 20_000
  while (texts().length < 2 && clock.elapsed() < deadline) await clock.sleep(20)
  t.deepEqual(texts(), ['You said: Hello', 'You said: pressed'])

  await put({ ingress_mode: 'webhook', allow_unauthenticated_ingress: true })
  server.setWebhook({ url: `${daemon.url}/v1/connectors/telegram/bot` }, token)
  await client.sendMessage(client.makeMessage('By webhook'))
  while (texts().length < 3 && clock.elapsed() < deadline) await clock.sleep(20)
  t.is(texts()[2], 'You said: By webhook')
  const { body } = await daemon.request('GET', '/v1/runs')
  t.is(body.length, 3)
  for (const run of body) await until(daemon, run.run_id, 'completed')
})
