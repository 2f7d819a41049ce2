/** Batches that are larger than an answer may be; docs/rules/telegram.md. */
import test from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { message, startBot } from './telegram-bot.js'

test('telegram-20: updates that are too large together are asked for in smaller batches', async (t) => {
  const clock = createLeapingClock()
  const bot = await startBot(t, { clock })
  const { api, put } = bot
  // As the platform writes what is no ASCII: six bytes for a letter, in the message and in what it replies to.
  const quoted = { reply_to_message: { message_id: 1, text: 'x'.repeat(200_000) } }
  for (let n = 0; n < 30; n += 1) api.push(message(`no ${n}`, quoted))
  await put('bot', { ingress_mode: 'polling', include_self_output: false, ingress_events_per_second: 1000 })
  await api.until(() => api.waiting() === 0, 'all of them')
  const limits = api.of('getUpdates').map(({ fields }) => fields['limit'])
  t.is(limits[0], undefined)
  t.true(limits.includes(25) && limits.includes(7), String(limits))
  const { body } = await bot.request('GET', '/v1/runs?limit=500')
  t.is(body.length, 30, 'each is one run')
})
