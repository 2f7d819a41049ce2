/** An answer that is shown while it is made; docs/rules/telegram.md. */
import test from 'ava'
import { until } from '../../../support/runs.js'
import { message, startBot } from './telegram-bot.js'

test('telegram-27: an answer is one message, which grows until it is the answer', async (t) => {
  const bot = await startBot(t)
  const { api, put, hook } = bot
  await put('bot', { stream_replies: true })
  const streamed = await hook(message('/sleep 700\n/say first words\n/sleep 1300\n/say last words'))
  await until(bot, streamed.body.run_id, 'completed')
  const isWhole = (text: unknown): boolean => /first words[^]*last words/u.test(String(text))
  await api.until(() => api.of('editMessageText').some(({ fields }) => isWhole(fields['text'])), 'the whole answer')
  const sent = api.of('sendMessage').filter(({ fields }) => /first words/u.test(String(fields['text'])))
  t.is(sent.length, 1, 'telegram-27: one message, which grows')
  t.false(isWhole(sent[0]?.fields['text']))
})
