/** Slack sends, a run comes of it, and its answer stands in the thread: a daemon, and a local Slack. */
import test, { type ExecutionContext } from 'ava'
import { botToken, messageEvent, refuses, signed, signingSecret } from '../../../support/slack-server.js'
import { codeOf, until } from '../../../support/runs.js'
import { putConnector, sendEvent, startSending } from './sending.js'

type Stand = Awaited<ReturnType<typeof startSending>>

const checkSetup = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  const view = await putConnector(daemon, slack.base, {
    ingress_events_per_second: 0,
    allowed_team_ids: ['T2', ' T1', 'T2'],
    allowed_file_hosts: ['Files.Example'],
    team_bot_tokens: [
      { team_id: 'T2', bot_token: { value: 'xoxb-of-t2' } },
      { team_id: 'T1', bot_token: { value: botToken } },
    ],
  })
  const slot = (field: string) => ({ configured: true, source: 'secret', secret_ref: `connectors.slack.main.${field}` })
  t.like(view, {
    kind: 'slack',
    source: 'daemon',
    bot_token: slot('bot_token'),
    signing_secret: slot('signing_secret'),
    include_self_output: true,
    ingress_events_per_second: 1,
    allowed_team_ids: ['T1', 'T2'],
    allowed_file_hosts: ['files.example'],
    team_bot_tokens: ['T1', 'T2'].map((team_id) => ({
      team_id,
      bot_token: slot(`team_bot_tokens.${team_id}.bot_token`),
    })),
  })
  for (const absent of ['allowed_channel_ids', 'fixed_session_id', 'additional_reply_targets']) t.false(absent in view)
  t.false(JSON.stringify(view).includes('xoxb'))
  const put = (body: object) => daemon.request('PUT', '/v1/runtime/connectors/slack/other', body)
  t.is((await put({})).status, 400, 'neither a secret nor the word that anybody may send')
  t.is((await put({ signing_secret: { value: 'x' }, api_base_url: 'http://10.0.0.1/' })).status, 400)
  const twice = [1, 2].map(() => ({ team_id: 'T1', bot_token: { value: 'x' } }))
  t.is((await put({ signing_secret: { value: 'x' }, team_bot_tokens: twice })).status, 400)
  await putConnector(daemon, slack.base, {
    ingress_events_per_second: null,
    allowed_team_ids: null,
    allowed_file_hosts: [],
    team_bot_tokens: null,
  })
  const { body } = await daemon.request('GET', '/v1/runtime/connectors/slack/main')
  t.is(body.ingress_events_per_second, 60)
  t.false('allowed_team_ids' in body || 'allowed_file_hosts' in body)
}

const checkStrangers = async (t: ExecutionContext, { daemon }: Stand): Promise<void> => {
  const text = JSON.stringify(messageEvent())
  const good = signed(text)
  t.deepEqual(codeOf(await sendEvent(daemon, text, { name: 'nobody' })), [404, 'not_found'])
  const refused = await Promise.all(
    [
      {},
      { ...good, 'x-slack-signature': good['x-slack-signature']?.replace('v0=', 'v1=') ?? '' },
      signed(text, { secret: 'other' }),
      signed(text, { at: Math.floor(Date.now() / 1000) - 305 }),
      signed(text, { at: Math.floor(Date.now() / 1000) + 305 }),
      signed(`${text} `),
    ].map((headers) => sendEvent(daemon, text, { headers })),
  )
  const warned = async () =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings.filter(
      ({ code }: any) => code === 'slack_signature_refused',
    )
  t.like(await warned(), [{ related_id: 'main' }])
  t.is((await sendEvent(daemon, { type: 'other' })).status, 200)
  t.deepEqual(await warned(), [], 'one that fits ends the warning')
  for (const answer of refused) {
    t.deepEqual(codeOf(answer), [401, 'unauthorized'])
    t.deepEqual(answer.body, refused[0]?.body, 'nobody learns what was wrong')
    t.is(answer.body.domain, 'connector_ingress')
  }
}

const checkEnvelopes = async (t: ExecutionContext, { daemon }: Stand): Promise<void> => {
  const answer = async (event: object | string) => {
    const { status, body } = await sendEvent(daemon, event)
    return [status, status === 200 ? body : body.code]
  }
  t.deepEqual(await answer({ type: 'url_verification', challenge: 'abc' }), [200, { challenge: 'abc' }])
  t.deepEqual(await answer({ type: 'app_rate_limited', minute_rate_limited: 5 }), [
    200,
    { ignored: true, type: 'app_rate_limited', minute_rate_limited: 5 },
  ])
  const ignored = (reason: string) => [200, { ignored: true, reason }]
  t.deepEqual(await answer({ type: 'other' }), ignored('unsupported_envelope'))
  t.deepEqual(await answer(messageEvent({ type: 'app_mention' })), ignored('unsupported_event'))
  t.deepEqual(await answer(messageEvent({ bot_id: 'B1' })), ignored('unsupported_message_subtype'))
  for (const bad of [
    '',
    '[]',
    '{',
    'token=x',
    '{"type":"event_callback"}',
    messageEvent({ channel: null }),
    messageEvent({ text: ' ' }),
  ])
    t.deepEqual(await answer(bad), [400, 'bad_request'], JSON.stringify(bad))
}

const checkRun = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  const event = messageEvent({ text: '/say 1 &lt; 2', ts: '11.1' })
  const { status, body: told, text } = await sendEvent(daemon, event)
  t.is(status, 200, text)
  t.like(told, { session_id: 'slack:main:team:T1:C1:11.1', kind: 'input' })
  t.false('input_metadata' in told || 'deliveries' in told)
  const run = await until(daemon, told.run_id, 'completed')
  t.like(run.request, { source_plugin: 'slack', source_kind: 'message', actor_id: 'U1' })
  const { token: _token, ...payload } = event
  t.like(run.input_metadata, payload)
  t.false('token' in run.input_metadata)
  t.regex(run.input_metadata.slack_ingress_fingerprint, /^[0-9a-f]{64}$/u)
  t.regex(run.input_metadata.connector_ingress_key, /^slack:main:[0-9a-f]{32}$/u)
  await slack.until(() => slack.messages.length === 1, 'an answer')
  t.like(slack.messages[0], { channel: 'C1', thread_ts: '11.1', text: '1 &lt; 2' })
  const reply = await sendEvent(daemon, messageEvent({ text: '/say more', thread_ts: '11.1' }))
  t.is(reply.body.session_id, told.session_id, 'a thread is a session')
  t.like(await until(daemon, (await sendEvent(daemon, messageEvent({ user: undefined }))).body.run_id, 'completed'), {
    request: { actor_id: 'slack-user' },
  })
  const { body: actions } = await daemon.request('GET', `/v1/runs/${told.run_id}/external-actions`)
  t.like(actions[0], { kind: 'delivery', target: 'slack:main:channel_sha256:ab861dc170dc2e43', outcome: 'done' })
  const { body: view } = await daemon.request('GET', '/v1/runtime/connectors/slack/main')
  t.is(view.health.state, 'ok')
}

const checkRepetitions = async (t: ExecutionContext, { daemon }: Stand): Promise<void> => {
  const event = messageEvent()
  const text = JSON.stringify(event)
  const answers = await Promise.all(
    [0, 1, 2, 3, 4].map((retry) =>
      sendEvent(daemon, text, {
        headers: {
          ...signed(text),
          ...(retry > 0 && { 'x-slack-retry-num': String(retry), 'x-slack-retry-reason': 'x' }),
        },
      }),
    ),
  )
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  )
  const [run_id] = answers.map(({ body }) => body.run_id)
  t.true(answers.every(({ body }) => body.run_id === run_id))
  const { session_id } = answers[0]?.body ?? {}
  t.is((await daemon.request('GET', `/v1/runs?session_id=${encodeURIComponent(session_id)}`)).body.length, 1)
  // A retry whose first try never came is a message like any other.
  const late = JSON.stringify(messageEvent())
  const first = await sendEvent(daemon, late, { headers: { ...signed(late), 'x-slack-retry-num': '2' } })
  t.truthy(first.body.run_id)
  const other = await sendEvent(daemon, { ...event, event_time: 1 })
  t.deepEqual(codeOf(other), [409, 'conflict'])
  t.like(other.body, { reason: 'other_payload', run_id, session_id })
}

const checkLists = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  await putConnector(daemon, slack.base, { name: 'listed', allowed_channel_ids: ['C1'], allowed_team_ids: ['T1'] })
  const of = async (event: object, envelope: object = {}) =>
    (await sendEvent(daemon, messageEvent(event, envelope), { name: 'listed' })).status
  t.is(await of({}), 200)
  t.is(await of({ channel: 'C2' }), 403)
  t.is(await of({ channel: 'C2', bot_id: 'B1' }), 403, 'also of what is ignored')
  t.is(await of({}, { authorizations: [{ team_id: 'T1' }, { team_id: 'T9' }] }), 403)
  const target = { connector: 'listed', channel_id: 'C2', team_id: 'T1' }
  const put = (reply_targets: object[]) =>
    daemon.request('PUT', '/v1/sessions/targets/reply-targets', { reply_targets })
  await daemon.request('POST', '/v1/sessions', { session_id: 'targets' })
  t.is((await put([{ type: 'slack', ...target }])).status, 400)
  t.is((await put([{ plugin: 'slack', address: JSON.stringify(target) }])).status, 400)
  t.is((await put([{ type: 'slack', ...target, channel_id: 'C1' }])).status, 200)
  t.is((await put([{ type: 'slack', connector: 'nobody', channel_id: 'C1' }])).status, 400)
  const kept = await daemon.request('PUT', '/v1/runtime/connectors/slack/listed', {
    additional_reply_targets: [{ type: 'slack', ...target }],
  })
  t.is(kept.status, 400, kept.text)
  // A list that becomes shorter holds back what is told already.
  await daemon.request('PUT', '/v1/runtime/connectors/slack/listed', { allowed_channel_ids: ['C3'] })
  await daemon.request('POST', '/v1/sessions/targets/runs', { content: '/say x' })
  const dead = async () => (await daemon.request('GET', '/v1/deliveries/dead-letter')).body
  await slack.until(async () => (await dead()).length === 1, 'a dead letter')
  t.is((await dead())[0].terminal_error, 'slack_target_not_allowed')
}

const checkRate = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  await putConnector(daemon, slack.base, { name: 'slow', ingress_events_per_second: 1, include_self_output: false })
  const send = (event: object) => sendEvent(daemon, messageEvent(event), { name: 'slow' })
  const first = messageEvent({ text: '/say x' })
  t.is((await sendEvent(daemon, first, { name: 'slow' })).status, 200)
  const limited = await send({})
  t.deepEqual(codeOf(limited), [429, 'slack_ingress_rate_limited'])
  t.is(limited.headers['retry-after'], '1')
  t.regex(limited.body.detail, /retry_after_ms=\d+$/u)
  t.is((await sendEvent(daemon, first, { name: 'slow' })).status, 200, 'what is known is not counted')
  t.is((await send({ channel: 'C2' })).status, 200, 'another channel has its own')
}

const checkMissing = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  await putConnector(daemon, slack.base, { name: 'closed', session_policy: null })
  const { status, body } = await sendEvent(daemon, messageEvent(), { name: 'closed' })
  t.deepEqual([status, body], [200, { ignored: true, reason: 'session_missing' }])
  const { health } = (await daemon.request('GET', '/v1/runtime/connectors/slack/closed')).body
  t.is(health.state, 'degraded')
  t.regex(health.action, /connectors put slack closed --set session_policy.create_if_missing=true$/u)
}

const checkOpen = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  await putConnector(daemon, slack.base, { name: 'open', signing_secret: {}, allow_unauthenticated_ingress: true })
  const send = (event: object) => sendEvent(daemon, messageEvent(event), { name: 'open', headers: {} })
  t.is((await send({})).status, 200)
  const files = [{ id: 'F1', name: 'a.txt', url_private: `${slack.base}/a.txt` }]
  t.deepEqual(codeOf(await send({ files })), [400, 'bad_request'])
  await putConnector(daemon, slack.base, { name: 'tokenless', bot_token: {} })
  const unread = await sendEvent(daemon, messageEvent({ files }), { name: 'tokenless' })
  t.deepEqual(codeOf(unread), [400, 'bad_request'])
}

const checkFixed = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  await putConnector(daemon, slack.base, {
    name: 'fixed',
    fixed_session_id: 'one-for-all',
    include_self_output: false,
    additional_binding_keys: ['team-room'],
    additional_reply_targets: [{ type: 'slack', connector: 'main', channel_id: 'C7' }],
  })
  const event = messageEvent({ text: '/say elsewhere' })
  const { body } = await sendEvent(daemon, event, { name: 'fixed' })
  t.is(body.session_id, 'one-for-all')
  await slack.until(() => slack.messages.some(({ text }) => text === 'elsewhere'), 'an answer')
  const said = slack.messages.filter(({ text }) => text === 'elsewhere')
  t.deepEqual(
    said.map(({ channel, thread_ts }) => [channel, thread_ts]),
    [['C7', undefined]],
  )
  await daemon.request('PUT', '/v1/runtime/connectors/slack/fixed', { fixed_session_id: null })
  const bound = await sendEvent(daemon, messageEvent(), { name: 'fixed' })
  t.is(bound.body.session_id, 'one-for-all', 'by the key that its messages are bound to')
}

const checkHealth = async (t: ExecutionContext, { daemon, slack }: Stand): Promise<void> => {
  const state = async () => (await daemon.request('GET', '/v1/runtime/connectors/slack/main')).body.health.state
  slack.on('chat.postMessage', refuses('token_revoked'))
  await sendEvent(daemon, messageEvent())
  await slack.until(async () => (await state()) === 'deaf', 'it is known to be deaf')
  slack.on('chat.postMessage', undefined)
  await sendEvent(daemon, messageEvent())
  await slack.until(async () => (await state()) === 'ok', 'it answers again')
  await sendEvent(daemon, messageEvent({ type: 'app_uninstalled' }))
  t.is(await state(), 'deaf')
  await sendEvent(daemon, messageEvent())
  await slack.until(async () => (await state()) === 'ok', 'it answers again')
}

const rules = [
  'slack-1, slack-2, slack-3, slack-4: a connector is set up by its fields, and never shows a secret',
  'slack-6: who cannot sign is told no more than that',
  'slack-7, slack-8, slack-9, slack-10: what is no message is acknowledged, what cannot be read is refused',
  'slack-13, slack-14, slack-16, slack-19: a message is a run in the session of its thread, and answered there',
  'slack-15: what comes again is the same run, what is another is refused',
  'slack-11, slack-12, slack-21: what is not on the lists is neither heard nor told anything',
  'slack-19: too much is refused with its time, by channel',
  'slack-19, slack-31: a message without a session is acknowledged, and the operator told',
  'slack-3, slack-17: a connector that anybody may send to reads no files',
  'slack-13, slack-14: a fixed session, other targets and further keys are those of the settings',
  'slack-31: what Slack says of the app is told',
]
const checks = [
  checkSetup,
  checkStrangers,
  checkEnvelopes,
  checkRun,
  checkRepetitions,
  checkLists,
  checkRate,
  checkMissing,
  checkOpen,
  checkFixed,
  checkHealth,
]

let stand: Stand
const undo: (() => unknown)[] = []
test.before('a daemon', async () => {
  stand = await startSending({ teardown: (one) => void undo.push(one) })
})
test.after.always('its end', async () => {
  for (const one of undo.toReversed()) await one()
})
for (const [at, rule] of rules.entries())
  test.serial(rule, async (t) => {
    await checks[at]?.(t, stand)
  })

test.serial('no secret of Slack is in a log, an event or an answer', async (t) => {
  const seen = await Promise.all(
    ['/v1/runtime/connectors', '/v1/runs', '/v1/sessions', '/v1/deliveries', '/v1/status'].map(
      async (path) => (await stand.daemon.request('GET', path)).text,
    ),
  )
  const all = [...seen, JSON.stringify(stand.daemon.log)].join('\n')
  for (const secret of [botToken, signingSecret, 'xoxb-of-t2', 'verification-token-of-slack'])
    t.false(all.includes(secret), secret)
  t.true(all.includes('connectors.slack.main.signing_secret'))
})
