/** Files of messages: on disk before they are read, read with the token of the bot, and only from where they may be. */
import test from 'ava'
import { until } from '../../../support/runs.js'
import { botToken, messageEvent, startSlack, tooMany } from '../../../support/slack-server.js'
import { putConnector, sendEvent, startSending } from './sending.js'

test('slack-17, slack-18, slack-19: a message is answered before its files are read, and its run is told of them', async (t) => {
  const { slack, daemon } = await startSending(t)
  const origin = slack.base.replace('/api', '')
  await putConnector(daemon, slack.base, {
    include_self_output: false,
    bot_token: { value: 'xoxb-of-all' },
    team_bot_tokens: [{ team_id: 'T1', bot_token: { value: botToken } }],
  })
  slack.pages.set('/f/a.txt', { type: 'text/plain', bytes: 'words of the file' })
  const file = (path: string, more: object = {}) => ({
    id: 'F1',
    name: 'a.txt',
    url_private: `${origin}${path}`,
    ...more,
  })
  const send = (files: object[], envelope: object = {}) =>
    sendEvent(daemon, messageEvent({ subtype: 'file_share', text: 'see', files }, envelope))
  /** The run of a message, when it has ended. */
  const runOf = async (session_id: string): Promise<any> => {
    const list = async () => (await daemon.request('GET', `/v1/runs?session_id=${encodeURIComponent(session_id)}`)).body
    await slack.until(async () => (await list()).length === 1, 'a run')
    return until(daemon, (await list())[0].run_id, 'completed')
  }
  const told = async (files: object[], envelope: object = {}) => {
    const { status, body, text } = await send(files, envelope)
    t.is(status, 200, text)
    const { run_id } = await runOf(body.session_id)
    const entries = (await daemon.request('GET', `/v1/runs/${run_id}/events`)).body
    return JSON.stringify(entries)
  }

  const held: (() => void)[] = []
  slack.on('file', (_, response) => void held.push(() => response.end('late')))
  const slow = await send([file('/f/a.txt', { url_private_download: `${origin}/f/b.txt` })])
  t.is(slow.status, 200, 'the file is not waited for')
  t.deepEqual(slow.body, { accepted: true, session_id: slow.body.session_id })
  await slack.until(() => held.length === 1, 'the file is asked for')
  held[0]?.()
  await runOf(slow.body.session_id)
  slack.on('file', undefined)

  const good = await told([file('/f/a.txt'), file('/f/a.txt', { name: undefined, mimetype: 'text/plain' })])
  t.true(good.includes('a.txt') && good.includes('F1'), good)
  t.true(slack.read.every(({ authorization }) => authorization === `Bearer ${botToken}`))

  slack.on('file', (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
  const moved = await told([file('/f/moved.txt')])
  t.false(moved.includes('127.0.0.1:1'))
  slack.on('file', undefined)

  slack.pages.set('/f/large.txt', { type: 'text/plain', bytes: Buffer.alloc(12_582_913, 'a') })
  t.true((await told([file('/f/large.txt')])).includes('12 MiB'))
  t.true((await told([file('/f/gone.txt')])).includes('404'))
  slack.pages.set('/f/empty.txt', { type: 'text/plain', bytes: '' })
  t.true((await told([file('/f/empty.txt')])).includes('it is empty'))

  const locked = await told([file('/f/a.txt')], { context_team_id: 'T2', team_id: 'T2', authorizations: [] })
  t.true(locked.includes('does not open it'))
  t.false(locked.includes('Sign in'))
  const { health } = (await daemon.request('GET', '/v1/runtime/connectors/slack/main')).body
  t.is(health.state, 'degraded')
  t.regex(health.action, /files:read/u)

  const stranger = await startSlack(t)
  const elsewhere = await send([file('/f/a.txt', { url_private: `${stranger.base}/a.txt` })])
  t.is(elsewhere.status, 400)
  t.is(stranger.calls.length, 0, 'our token goes to no other host')
  const many = await send(Array.from({ length: 9 }, () => file('/f/a.txt')))
  t.is(many.status, 400)

  slack.on('file', (call, response, count) => (count === 1 ? tooMany('1')(call, response, count) : false))
  t.true((await told([file('/f/a.txt')])).includes('a.txt'), 'what Slack has no time for is asked for again')
})
