import test from 'ava'
import { specialAddresses } from '../../../support/special-addresses.js'
import { checkReply } from '../../../conform/reply.js'
import { botToken, cuts, first, hangs, refuses, startSlack, tooMany } from '../../../support/slack-server.js'
import { fileOf, said, shown, slackConfig, startBench } from './bench.js'

const a = shown(fileOf('asset_1', 'a.csv'))
const b = shown(fileOf('asset_2', 'b.png', 'image/png'))

test('it keeps what every reply plugin must keep', async (t) => {
  const { slack, reply, address } = await startBench(t, {
    settings: { allowed_channel_ids: ['C1', 'C2'] },
    // Its deliveries are of no outbox: nothing is kept of them.
    forgets: true,
  })
  slack.on('chat.postMessage', ({ args: { channel } }) => (channel === 'C2' ? undefined : false))
  await checkReply(t, {
    reply,
    requests: [
      [{ type: 'slack', connector: 'main', channel_id: 'C1' }, '{"connector":"main","channel_id":"C1"}'],
      [
        { type: 'slack', connector: 'main', thread_ts: '1.1', channel_id: 'C1', team_id: 'T1', enterprise_id: 'E1' },
        '{"connector":"main","enterprise_id":"E1","team_id":"T1","channel_id":"C1","thread_ts":"1.1"}',
      ],
    ],
    good: address(),
    silent: address({ channel_id: 'C2' }),
    refused: [
      'C1',
      '{}',
      '{"connector":"main"}',
      '{"connector":"main","channel_id":"C1","other":1}',
      '{"connector":"main","channel_id":"C 1"}',
      address({ connector: 'other' }),
      address({ channel_id: 'C3' }),
    ],
    secrets: ['C1', 'C2', botToken],
    arrived: () => slack.of('chat.postMessage').map(({ args }) => args['client_msg_id']),
  })
})

test('slack-20: what is told of a target is its connector and a digest of its channel', async (t) => {
  const { reply, address } = await startBench(t)
  t.is(reply.target(address()), 'slack:main:channel_sha256:ab861dc170dc2e43')
  t.is(reply.target(address({ thread_ts: '1.1' })), reply.target(address()))
  t.is(reply.target('x'), 'slack:invalid')
  t.is(reply.keep?.('{ "channel_id":"C1", "connector":"main" }'), address())
})

test('slack-22, slack-23, slack-26, slack-27: words and files come one after the other, in the thread of the first', async (t) => {
  const { slack, deliver, progress } = await startBench(t)
  t.deepEqual(await deliver({ content: 'all', parts: [a, said('one <b>'), said('two'), b] }), { type: 'delivered' })
  const [root, two] = slack.messages
  t.deepEqual(
    slack.messages.map(({ text, thread_ts }) => [text, thread_ts]),
    [
      ['one &lt;b&gt;', undefined],
      ['two', root?.ts],
    ],
  )
  t.deepEqual(
    [...slack.files.values()].map(({ id, bytes, type, title, shared }) => [id, String(bytes), type, title, shared]),
    [
      ['F1', 'bytes of asset_1', 'text/csv', 'a.csv', [{ channel: 'C1', thread_ts: root?.ts }]],
      ['F2', 'bytes of asset_2', 'image/png', 'b.png', [{ channel: 'C1', thread_ts: root?.ts }]],
    ],
  )
  const upload = ['files.getUploadURLExternal', 'upload', 'files.completeUploadExternal']
  t.deepEqual(
    slack.calls.map(({ method }) => method),
    [['chat.postMessage'], upload, ['chat.postMessage'], upload].flat(),
  )
  for (const { method, token, type } of slack.calls) {
    t.is(token, method === 'upload' ? '' : botToken, method)
    if (method.startsWith('files.')) t.regex(type, /^application\/x-www-form-urlencoded/u)
    if (method.startsWith('chat.')) t.regex(type, /^application\/json/u)
  }
  t.deepEqual(progress.kept.get('delivery-1'), {
    thread_ts: root?.ts ?? '',
    messages: {
      anchor: { client_msg_id: root?.client_msg_id ?? '', ts: root?.ts ?? '' },
      'text:2': { client_msg_id: two?.client_msg_id ?? '', ts: two?.ts ?? '' },
    },
    uploads: {
      'attachment:0:asset_1': { file_id: 'F1', uploaded: true, completion_requested: true, completed: true },
      'attachment:3:asset_2': { file_id: 'F2', uploaded: true, completion_requested: true, completed: true },
    },
  })
  t.false(progress.written.some((text) => text.includes('upload/') || text.includes(String(slack.port))))
})

test('slack-14, slack-23: a given thread is where everything goes', async (t) => {
  const { slack, deliver, address } = await startBench(t)
  await deliver({ parts: [a, said('one')] }, { to: address({ thread_ts: '7.7' }) })
  t.deepEqual(slack.messages[0]?.thread_ts, '7.7')
  t.deepEqual(slack.files.get('F1')?.shared, [{ channel: 'C1', thread_ts: '7.7' }])
})

test('slack-30: a repetition goes on behind what is done', async (t) => {
  const { slack, deliver } = await startBench(t)
  const output = { content: 'all', parts: [said('one'), a, said('two')] }
  slack.on('upload', first(1, refuses('x', 500)))
  t.deepEqual(await deliver(output), { type: 'retry', code: 'http_status_500' })
  slack.on('chat.postMessage', first(1, tooMany('7')))
  t.deepEqual(await deliver(output), { type: 'retry', code: 'slack_ratelimited', retry_after_ms: 7000 })
  t.deepEqual(await deliver(output), { type: 'delivered' })
  t.deepEqual(await deliver(output), { type: 'delivered' })
  t.deepEqual(
    slack.messages.map(({ text }) => text),
    ['one', 'two'],
  )
  t.is(slack.messages[1]?.thread_ts, slack.messages[0]?.ts)
  t.is(slack.of('files.completeUploadExternal').length, 1)
  t.deepEqual(
    [...slack.files.values()].map(({ shared }) => shared.length),
    [0, 1],
    'an address for a file is asked for again, and used once',
  )
})

test('slack-29: a completion of which nobody knows whether it was is not made again', async (t) => {
  const { slack, deliver, progress } = await startBench(t)
  const unknown = { type: 'terminal', code: 'slack_completion_unknown', uncertain: true }
  const ends: [string, Parameters<typeof slack.on>[1]][] = [
    ['cut', cuts],
    ['5xx', refuses('x', 502)],
    ['no JSON', (_, response) => void response.end('<html>')],
    ['fatal', refuses('fatal_error')],
    ['internal', refuses('internal_error')],
  ]
  for (const [delivery_id, answer] of ends) {
    slack.on('files.completeUploadExternal', answer)
    t.like(await deliver({ delivery_id, parts: [a] }), unknown, delivery_id)
    slack.on('files.completeUploadExternal', undefined)
    const asked = slack.of('files.completeUploadExternal').length
    t.like(await deliver({ delivery_id, parts: [a] }), unknown, 'the daemon may have died before it knew')
    t.is(slack.of('files.completeUploadExternal').length, asked)
  }
  slack.on('files.completeUploadExternal', refuses('x', 403))
  t.deepEqual(await deliver({ delivery_id: '4xx', parts: [a] }), { type: 'terminal', code: 'http_status_403' })
  slack.on('files.completeUploadExternal', refuses('invalid_channel'))
  t.deepEqual(await deliver({ delivery_id: 'no', parts: [a] }), { type: 'terminal', code: 'slack_invalid_channel' })
  for (const [delivery_id, answer, wait] of [
    ['429', tooMany('3'), 3000],
    ['limited', refuses('ratelimited'), 1000],
  ] as const) {
    slack.on('files.completeUploadExternal', answer)
    const asked = await deliver({ delivery_id, parts: [a] })
    t.deepEqual(asked, { type: 'retry', code: 'slack_ratelimited', retry_after_ms: wait })
    const { uploads }: any = progress.kept.get(delivery_id)
    t.like(uploads['attachment:0:asset_1'], { uploaded: true, completion_requested: false, completed: false })
    slack.on('files.completeUploadExternal', undefined)
    const uploads_before = slack.of('upload').length
    t.deepEqual(await deliver({ delivery_id, parts: [a] }), { type: 'delivered' })
    t.is(slack.of('upload').length, uploads_before, 'it is with Slack already')
  }
})

test('slack-28: what a repetition would not mend is final, everything else goes again', async (t) => {
  const { slack, deliver } = await startBench(t)
  const said_ = async (answer: Parameters<typeof slack.on>[1], more: object = {}) => {
    slack.on('chat.postMessage', answer)
    return deliver({ content: 'x', ...more })
  }
  for (const error of [
    'account_inactive',
    'channel_not_found',
    'ekm_access_denied',
    'invalid_auth',
    'is_archived',
    'missing_scope',
    'not_allowed_token_type',
    'not_authed',
    'not_in_channel',
    'token_revoked',
  ])
    t.deepEqual(await said_(refuses(error)), { type: 'terminal', code: `slack_${error}` })
  t.deepEqual(await said_(refuses('some_new_error')), { type: 'retry', code: 'slack_some_new_error' })
  t.deepEqual(await said_(refuses('Not a <code>\n')), { type: 'retry', code: 'slack_error' })
  t.deepEqual(await said_(refuses('x', 404)), { type: 'retry', code: 'http_status_404' })
  t.deepEqual(await said_(refuses('x', 301)), { type: 'retry', code: 'http_status_301' })
  t.deepEqual(await said_(refuses('ratelimited')), { type: 'retry', code: 'slack_ratelimited', retry_after_ms: 1000 })
  for (const [header, wait] of [
    ['30', 30_000],
    [undefined, 1000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
    ['1.5', 1000],
  ] as const)
    t.deepEqual(await said_(tooMany(header)), { type: 'retry', code: 'slack_ratelimited', retry_after_ms: wait })
  const unsure = { type: 'retry', uncertain: true }
  t.like(await said_(refuses('x', 503)), { ...unsure, code: 'http_status_503' })
  t.like(await said_(refuses('internal_error')), { ...unsure, code: 'slack_internal_error' })
  t.like(await said_((_, response) => void response.end('[]')), { ...unsure, code: 'slack_answer_unreadable' })
  t.like(await said_(cuts), { ...unsure, code: 'outbound_connection_broken' })
  t.is(slack.messages.length, 0)
  for (const method of ['files.getUploadURLExternal', 'upload']) {
    for (const answer of [cuts, refuses('x', 500)]) {
      slack.on(method, answer)
      const outcome = await deliver({ delivery_id: method, parts: [a] })
      t.is(outcome.type, 'retry')
      t.false('uncertain' in outcome, 'nobody sees a file that is not completed')
    }
    slack.on(method, undefined)
  }
  slack.on('files.getUploadURLExternal', refuses('invalid_auth'))
  t.deepEqual(await deliver({ delivery_id: 'd', parts: [a] }), { type: 'terminal', code: 'slack_invalid_auth' })
})

test('slack-26: a message that hangs ends with its attempt, and is uncertain', async (t) => {
  const { slack, deliver } = await startBench(t)
  slack.on('chat.postMessage', hangs)
  const controller = new AbortController()
  const waiting = deliver({ content: 'x' }, { signal: controller.signal })
  await slack.until(() => slack.of('chat.postMessage').length === 1, 'the message is on its way')
  controller.abort()
  t.deepEqual(await waiting, { type: 'retry', code: 'outbound_aborted', uncertain: true })
})

test('slack-21: what may not be posted is final, what lacks its connector or token goes again', async (t) => {
  const { deliver, address } = await startBench(t, { settings: { allowed_channel_ids: ['C1'] }, secrets: {} })
  t.deepEqual(await deliver({ content: 'x' }, { to: address({ channel_id: 'C2' }) }), {
    type: 'terminal',
    code: 'slack_target_not_allowed',
  })
  t.deepEqual(await deliver({ content: 'x' }, { to: 'x' }), { type: 'terminal', code: 'slack_address_invalid' })
  t.deepEqual(await deliver({ content: 'x' }, { to: address({ connector: 'gone' }) }), {
    type: 'retry',
    code: 'connector_missing',
  })
  t.deepEqual(await deliver({ content: 'x' }), { type: 'retry', code: 'slack_token_missing' })
})

test('slack-5: a workspace with a token of its own is spoken to with that', async (t) => {
  const secrets = { bot_token: 'xoxb-of-all', 'team_bot_tokens.T2.bot_token': botToken }
  const { slack, deliver, address } = await startBench(t, { secrets })
  await deliver({ content: 'x' }, { to: address({ team_id: 'T2' }) })
  await deliver({ content: 'x', delivery_id: 'd2' }, { to: address({ team_id: 'T3' }) })
  await deliver({ content: 'x', delivery_id: 'd3' })
  t.deepEqual(
    slack.calls.map(({ token }) => token),
    [botToken, 'xoxb-of-all', 'xoxb-of-all'],
  )
})

test('slack-27: a file goes over https, or to the host of the API, and never to a special address', async (t) => {
  const { slack, deliver } = await startBench(t, { config: { ...slackConfig, allow_cidrs: ['127.0.0.1/32'] } })
  const other = await startSlack(t)
  for (const [upload_url, code] of [
    [`http://127.0.0.1:${other.port}/upload/F1`, 'slack_upload_url_refused'],
    ['http://files.slack.com/upload', 'slack_upload_url_refused'],
    ['file:///etc/passwd', 'slack_upload_url_refused'],
    ['nowhere', 'slack_upload_url_refused'],
    ['https://user:word@files.slack.com/upload', 'outbound_url_invalid'],
  ] as const) {
    slack.on(
      'files.getUploadURLExternal',
      (_, response) => void response.end(JSON.stringify({ ok: true, upload_url, file_id: 'F9' })),
    )
    t.deepEqual(await deliver({ delivery_id: upload_url, parts: [a] }), { type: 'terminal', code }, upload_url)
  }
  // The local Slack has this one.
  const isOurs = (host: string) =>
    /^(127\.0\.0\.1|\[::ffff:7f00:1\]|.*localhost\.?)$/u.test(new URL(`https://${host}`).hostname)
  for (const host of specialAddresses.filter((one) => !isOurs(one))) {
    slack.on(
      'files.getUploadURLExternal',
      (_, response) =>
        void response.end(JSON.stringify({ ok: true, upload_url: `https://${host}/upload`, file_id: 'F9' })),
    )
    const outcome = await deliver({ delivery_id: host, parts: [a] })
    t.is(outcome.type, 'terminal', host)
  }
  t.deepEqual([...other.calls, ...slack.of('upload')], [])
})

test('slack-30: progress that cannot be read ends the delivery', async (t) => {
  const { slack, deliver, progress } = await startBench(t)
  progress.kept.set('delivery-1', { messages: 1 })
  t.deepEqual(await deliver({ content: 'x' }), { type: 'terminal', code: 'slack_progress_invalid' })
  t.deepEqual(slack.calls, [])
})

test('slack-31: what attempts say of the connector is told with an action', async (t) => {
  const { slack, deliver, troubles } = await startBench(t)
  const told = async (error: string): Promise<unknown> => {
    slack.on('chat.postMessage', refuses(error))
    await deliver({ content: 'x', delivery_id: error })
    const last = troubles.pop()
    if (typeof last === 'object') t.regex(last.action, /install|token|scope/iu)
    return typeof last === 'object' ? last.state : last
  }
  t.is(await told('token_revoked'), 'deaf')
  t.is(await told('account_inactive'), 'deaf')
  t.is(await told('invalid_auth'), 'degraded')
  t.is(await told('missing_scope'), 'degraded')
  t.is(await told('channel_not_found'), undefined)
  slack.on('chat.postMessage', undefined)
  await deliver({ content: 'x' })
  t.deepEqual(troubles, ['well'])
})

test('slack-32: the first words become the draft, and are posted where that is gone', async (t) => {
  const asked: unknown[] = []
  const {
    slack,
    deliver,
    address,
    progress: { kept },
  } = await startBench(t, {
    live: {
      takeDraft: async (wish) => {
        asked.push(wish)
        return `C1/${{ gone: '9.9', long: '6.6' }[wish.delivery_id] ?? '5.5'}`
      },
    },
  })
  slack.messages.push({ ts: '5.5', channel: 'C1', text: 'on…', blocks: [1] })
  t.deepEqual(await deliver({ run_id: 'run_1', parts: [said('one & all'), said('two')] }), { type: 'delivered' })
  t.deepEqual(asked, [{ plugin: 'slack', delivery_id: 'delivery-1', run_id: 'run_1', address: address() }])
  t.deepEqual(
    slack.messages.map(({ text, thread_ts, blocks }) => [text, thread_ts, blocks]),
    [
      ['one &amp; all', undefined, []],
      ['two', '5.5', undefined],
    ],
  )
  slack.messages.push({ ts: '6.6', channel: 'C1', text: 'on…' })
  const long = 'word '.repeat(1000)
  t.deepEqual(await deliver({ delivery_id: 'long', content: long }), { type: 'delivered' })
  t.false(
    slack.messages.some(({ ts }) => ts === '6.6'),
    'an edit has no room for it: the draft goes',
  )
  t.is(slack.messages.pop()?.text, long)
  const progress = kept.get('long') ?? {}
  t.like(progress, { messages: { content: { replaces: '6.6' } } })
  slack.messages.push({ ts: '6.6', channel: 'C1', text: 'on…' })
  t.deepEqual(await deliver({ delivery_id: 'long', content: long }), { type: 'delivered' })
  t.false(
    slack.messages.some(({ ts }) => ts === '6.6'),
    'the draft goes also where the daemon died before it went',
  )
  asked.pop()
  await deliver({ delivery_id: 'gone', content: 'three' })
  t.is(slack.messages[2]?.text, 'three')
  await deliver({ delivery_id: 'gone', content: 'three' })
  t.is(asked.length, 2, 'nobody asks for what is done')
})
