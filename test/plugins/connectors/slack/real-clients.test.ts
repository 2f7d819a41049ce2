/** What stands for Slack in our tests agrees with Slack's own packages: its client calls it, its receiver takes it. */
import test from 'ava'
import { App, HTTPReceiver, LogLevel } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import type { AddressInfo } from 'node:net'
import {
  botToken,
  first,
  messageEvent,
  refuses,
  signed,
  signingSecret,
  startSlack,
  tooMany,
} from '../../../support/slack-server.js'

const quiet = LogLevel.ERROR

test('the client of Slack posts, edits and uploads at the local Slack, and is refused by it as by Slack', async (t) => {
  const slack = await startSlack(t)
  const options = { slackApiUrl: `${slack.base}/`, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true }
  const client = new WebClient(botToken, { ...options, logLevel: quiet })
  t.is((await client.auth.test()).team_id, 'T1')
  const posted = await client.chat.postMessage({ channel: 'C1', text: 'hello' })
  await client.chat.update({ channel: 'C1', ts: posted.ts ?? '', text: 'hello again' })
  t.deepEqual(slack.messages, [{ ts: posted.ts ?? '', channel: 'C1', text: 'hello again' }])
  const other = await client.chat.postMessage({ channel: 'C1', text: 'gone soon' })
  await client.chat.postEphemeral({ channel: 'C1', user: 'U1', text: 'for you' })
  await client.chat.delete({ channel: 'C1', ts: other.ts ?? '' })
  t.is(slack.messages.length, 1)
  await client.files.uploadV2({
    channel_id: 'C1',
    thread_ts: posted.ts ?? '',
    file: Buffer.from('a,b\n'),
    filename: 'a.csv',
    title: 'A',
  })
  const [file] = slack.files.values()
  t.is(file?.bytes?.toString(), 'a,b\n')
  t.deepEqual(file?.shared, [{ channel: 'C1', thread_ts: posted.ts ?? '' }])
  const platform = async (work: Promise<unknown>): Promise<unknown> => {
    const error: any = await t.throwsAsync(work)
    return error.data?.error ?? error.retryAfter
  }
  t.is(await platform(client.chat.postMessage({ channel: 'nowhere', text: 'x' })), 'channel_not_found')
  t.is(await platform(client.chat.update({ channel: 'C1', ts: '1', text: 'x' })), 'message_not_found')
  t.is(await platform(new WebClient('xoxb-other', { ...options, logLevel: quiet }).auth.test()), 'invalid_auth')
  slack.on('auth.test', first(1, tooMany('7')))
  const limited = new WebClient(botToken, { ...options, logLevel: quiet })
  t.is(await platform(limited.auth.test()), 7)
  slack.on('auth.test', refuses('token_revoked'))
  t.is(await platform(limited.auth.test()), 'token_revoked')
})

test('the receiver of Slack takes what our tests sign as Slack does, and nothing with another byte', async (t) => {
  const heard: string[] = []
  const receiver = new HTTPReceiver({ signingSecret, port: 0, logLevel: quiet })
  const app = new App({
    receiver,
    logLevel: quiet,
    authorize: async () => ({ botToken, botId: 'BBOT', botUserId: 'UBOT' }),
  })
  app.message(async ({ message }) => {
    if ('text' in message) heard.push(message.text ?? '')
  })
  app.action('decide', async ({ ack, body }) => {
    await ack()
    heard.push(`${body.type} of ${body.user.id}`)
  })
  const server: any = await app.start({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.stop())
  const { port } = server.address() as AddressInfo
  const send = async (body: string, headers: Record<string, string>): Promise<[number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', body, headers })
    return [answer.status, await answer.text()]
  }
  const text = JSON.stringify(messageEvent({ text: 'hello' }))
  t.deepEqual(await send(text, signed(text)), [200, ''])
  t.is((await send(text.replace('hello', 'hellp'), signed(text)))[0], 401)
  t.is((await send(text, signed(text, { secret: 'another' })))[0], 401)
  t.is((await send(text, signed(text, { at: Math.floor(Date.now() / 1000) - 301 })))[0], 401)
  const challenge = JSON.stringify({ type: 'url_verification', token: 'x', challenge: 'abc' })
  const [status, answer] = await send(challenge, signed(challenge))
  t.deepEqual([status, JSON.parse(answer)], [200, { challenge: 'abc' }])
  const click = {
    type: 'block_actions',
    user: { id: 'U1', username: 'u', team_id: 'T1' },
    api_app_id: 'A1',
    team: { id: 'T1', domain: 'local' },
    channel: { id: 'C1', name: 'c' },
    container: { type: 'message', message_ts: '1.1', channel_id: 'C1' },
    response_url: 'https://hooks.slack.com/actions/T1/1/x',
    trigger_id: '1.2.3',
    actions: [{ type: 'button', action_id: 'decide', block_id: 'b', value: 'v', action_ts: '1.1' }],
  }
  const form = new URLSearchParams({ payload: JSON.stringify(click) }).toString()
  t.is((await send(form, signed(form)))[0], 200)
  t.deepEqual(heard, ['hello', 'block_actions of U1'])
})
