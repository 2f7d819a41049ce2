/** What an operator is told of updates that are refused, on one daemon; docs/rules/telegram.md. */
import test from 'ava'
import { message, opened, secret, settingsPath, startBot } from './telegram-bot.js'

test('telegram-5, telegram-22: updates that find no session, are of another chat or come with another secret are told to the operator', async (t) => {
  const bot = await startBot(t)
  const { api, put, hook, request } = bot
  const health = async (name: string): Promise<any> => (await request('GET', settingsPath(name))).body.health
  const told = () =>
    bot.log
      .filter(({ fact }) => fact === 'a telegram update is refused and passed over')
      .map(({ details: { connector, reason, chat_id, error } }) => [connector, reason, chat_id, error])
  const warnings = async (code: string): Promise<any[]> =>
    (await request('GET', '/v1/status')).body.health.warnings.filter((warning: any) => warning.code === code)

  await put('poller', { ingress_mode: 'polling', session_policy: null })
  api.push(message('one'))
  await api.until(() => told().length === 1, 'a warning')
  t.deepEqual(told(), [['poller', 'session_missing', 1111, undefined]])
  const polls = api.of('getUpdates').length
  api.push(message('two'))
  await api.until(() => api.of('getUpdates').length > polls, 'a poll that is well')
  const opens = 'holdfast connectors put NAME --set session_policy.create_if_missing=true'
  const lets = (name: string): string => `Let it open sessions: ${opens.replace('NAME', `telegram ${name}`)}`
  t.like(await health('poller'), { state: 'degraded', action: lets('poller') }, 'a poll that is well does not end that')
  t.is(told().length, 1, 'once in 30 s')
  await put('poller', { ...opened, allowed_chat_ids: [5] })
  api.push(message('three'))
  await api.until(() => told().length === 2, 'the next warning')
  t.deepEqual(told()[1], ['poller', 'chat_not_allowed', 1111, undefined])
  await api.until(async () => (await health('poller')).state === 'ok', 'it opens sessions')

  await put('bot', { session_policy: null })
  t.is((await hook(message('four'), { headers: { 'x-telegram-bot-api-secret-token': 'another' } })).status, 401)
  const [strange] = await warnings('telegram_secret_refused')
  t.regex(strange.action, /setWebhook.*: holdfast connectors put telegram bot --secret secret_token --stdin$/u)
  t.is((await hook(message('five'))).status, 409)
  t.deepEqual(await warnings('telegram_secret_refused'), [], `${secret} was shown`)
  t.like(await health('bot'), { state: 'degraded', action: lets('bot') })
  t.is((await hook({ update_id: 6001, my_chat_member: {} })).status, 200)
  t.is((await hook(message('', { text: undefined, sticker: {} }))).status, 200)
  t.like(await health('bot'), { state: 'degraded' }, 'what carries nothing for a run needs no session')
  await request('POST', '/v1/sessions', { session_id: 'telegram:bot:1111' })
  t.is((await hook(message('six'))).status, 200)
  t.like(await health('bot'), { state: 'ok' }, 'somebody opened the session')
})
