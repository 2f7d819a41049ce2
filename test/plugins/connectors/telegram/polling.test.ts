/** Updates by poll, on one daemon; docs/rules/telegram.md. */
import test from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { failing, flood, garbage } from '../../../support/telegram/bot-api.js'
import { message, settingsPath, startBot, token } from './telegram-bot.js'

test('telegram-20, telegram-21, telegram-22, telegram-23, telegram-24, telegram-25: a connector asks for updates, goes on behind them, and says when it is deaf', async (t) => {
  const clock = createLeapingClock()
  const bot = await startBot(t, { clock })
  const { api, put, request } = bot
  const runs = async (): Promise<any[]> => (await request('GET', '/v1/runs')).body
  const health = async (): Promise<any> => (await request('GET', settingsPath('bot'))).body.health
  const polls = () => api.of('getUpdates')
  const nextPoll = async (what: string, leap = 0): Promise<void> => {
    const before = polls().length
    clock.leap(leap)
    await api.until(() => polls().length > before, what)
  }

  for (const update of [message('one'), { update_id: 4000, message: null, my_chat_member: {} }, message('  ', {})])
    api.push(update)
  const last = api.push(message('two', { chat: { id: -5 } }))
  await put('bot', { ingress_mode: 'polling', polling_timeout_seconds: 50, ingress_events_per_second: 1000 })
  await api.until(() => polls().length === 2, 'the poll behind the batch')
  t.deepEqual(polls()[0]?.fields, {
    offset: 0,
    timeout: 50,
    allowed_updates: ['message', 'edited_message', 'callback_query'],
  })
  t.is(polls()[1]?.fields['offset'], last + 1, 'telegram-21: behind the greatest of the batch')
  t.is(api.waiting(), 0)
  const told = await runs()
  t.deepEqual(told.map(({ session_id: id }) => id).toSorted(), ['telegram:bot:-5', 'telegram:bot:1111'])
  const view = await request('GET', `/v1/runs/${told[0].run_id}`)
  t.is(view.body.input_metadata.ingress_mode, 'polling')
  t.like(await health(), { state: 'ok' })
  await api.until(() => api.of('sendMessage').length === 2, 'the answers, while a poll waits')

  api.on('getUpdates', failing(409, 'Conflict: terminated by other getUpdates request; make sure that …'))
  api.push(message('three'))
  await api.until(() => polls().length === 4, 'a conflict')
  t.like(await health(), { state: 'deaf' })
  const { cause, action } = await health()
  t.regex(cause, /Another program/u)
  t.regex(
    action,
    /deleteWebhook.*connectors put telegram bot --set ingress_mode=webhook --secret secret_token --stdin$/u,
  )
  api.on('getUpdates', undefined)
  api.push(message('three, a while later'))
  const conflicts = polls().length
  clock.leap(2000)
  await api.until(() => polls().length > conflicts + 1, 'a success among conflicts, and the poll behind it')
  t.like(await health(), { state: 'deaf' }, 'telegram-23: one success is no end of a conflict')
  clock.leap(60_000)
  api.push(message('four'))
  await api.until(async () => (await health()).state === 'ok', 'the end of the conflict')

  api.on('getUpdates', garbage)
  api.push(message('five'))
  await api.until(async () => (await health()).state === 'degraded', 'garbage')
  const warned = () => bot.log.filter(({ fact }) => fact === 'a telegram connector does not hear well').length
  const earlier = warned()
  await nextPoll('garbage again', 30_000)
  await api.until(() => warned() > earlier, 'its warning')
  const once = warned()
  for (const again of [1, 2, 3]) await nextPoll(`garbage ${again}`, 2100)
  t.is(warned(), once, 'telegram-25: one warning in 30 s')
  await nextPoll('garbage for a minute', 30_000)
  await api.until(async () => (await health()).state === 'deaf', 'nothing was heard for a minute')

  api.on('getUpdates', failing(401, 'Unauthorized'))
  await nextPoll('the token is refused', 2000)
  await api.until(async () => /BotFather/u.test((await health()).action), 'the token was revoked')
  t.like(await health(), { state: 'deaf' })

  api.on('getUpdates', flood({ header: '7', body: 3 }))
  await nextPoll('a flood', 30_000)
  await api.until(async () => /fewer requests/u.test((await health()).cause), 'a flood')
  const flooded = polls().length
  clock.leap(6000)
  await put('other', { include_self_output: false })
  t.is(polls().length, flooded, 'telegram-24: the header counts before the body')
  api.on('getUpdates', undefined)
  await nextPoll('the end of the flood', 1500)
  api.push(message('hello again'))
  await api.until(async () => (await health()).state === 'ok', 'it hears again')

  await put('bot', { ingress_events_per_second: 1 })
  const before = (await runs()).length
  const ids = ['six', 'seven'].map((text) => api.push(message(text)))
  await api.until(async () => (await health()).state === 'degraded', 'the second is too much')
  t.is((await runs()).length, before + 1)
  const seen = polls().length
  await nextPoll('the same update again', 2000)
  t.is(polls()[seen]?.fields['offset'], ids[1], 'telegram-22: what was not taken in is asked for again')
  await api.until(async () => (await runs()).length === before + 2, 'the second one')

  const passed = () =>
    bot.log.filter(({ fact }) => fact === 'telegram updates cannot be read and are passed over').length
  await put('bot', { ingress_mode: 'polling', polling_timeout_seconds: 50, ingress_events_per_second: 1000 })
  const toldBefore = passed()
  for (let n = 0; n < 20; n += 1) api.push({ message: { message_id: 'none' } })
  await api.until(() => api.waiting() === 0, 'what cannot be read')
  t.is(passed(), toldBefore + 1, 'telegram-25: one warning for all that is passed over in 30 s')
  let lower: any[] = [{ ...message('after a week'), update_id: 40 }]
  api.on('getUpdates', async ({ call, response, work }) => {
    const offset = Number(call.fields['offset'])
    // An offset behind all that there is counts as none.
    if (offset <= 41) lower = lower.filter(({ update_id: id }) => id >= offset)
    const body = lower.length > 0 ? { ok: true, result: lower } : (await work()).body
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  api.push(message('nine'))
  await api.until(() => lower.length === 0, 'telegram-21: ids that the platform began anew are confirmed')
  api.on('getUpdates', undefined)

  await request('DELETE', settingsPath('bot'))
  await api.until(() => true, 'the end')
  const over = polls().length
  api.push(message('eight'))
  clock.leap(120_000)
  await put('other', { include_self_output: true })
  t.is(polls().length, over, 'telegram-25: a connector that is gone asks no more')
  t.false(JSON.stringify(bot.log).includes(token))
})
