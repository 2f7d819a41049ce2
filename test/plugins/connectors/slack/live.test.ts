/** Drafts, buttons and answers at Slack, with what decides stood in for. */
import test, { type ExecutionContext } from 'ava'
import type { LiveAnswer, LiveMessage, LivePress, LiveReply } from '../../../../plugins/connectors/live/contract.js'
import { createInteractions, type Whisper } from '../../../../plugins/connectors/slack/live/interactions.js'
import { createLiveKind } from '../../../../plugins/connectors/slack/live/kind.js'
import { botToken, cuts, first, refuses, tooMany } from '../../../support/slack-server.js'
import { connectorOf, slackConfig, startBench } from './bench.js'

const signal = new AbortController().signal
const message = (text: string, more: Partial<LiveMessage> = {}): LiveMessage => ({
  purpose: 'draft',
  text,
  buttons: [],
  ...more,
})

const startKind = async (t: ExecutionContext<any>, settings: object = {}, secrets?: Record<string, string>) => {
  const bench = await startBench(t, { settings, ...(secrets !== undefined && { secrets }) })
  const { connector, outbound, kind } = bench
  const found: any = (_: unknown, name: string) => (name === 'main' ? connector : undefined)
  const hasKind = () => true
  return {
    ...bench,
    live: createLiveKind({ outbound, config: slackConfig, kind, connectors: { find: found, hasKind } }),
  }
}

test('slack-32: a draft is a message that is edited, at the pace of Slack', async (t) => {
  const { slack, live, address } = await startKind(
    t,
    { stream_replies: true, approver_ids: ['U1'] },
    { bot_token: botToken, signing_secret: 's' },
  )
  t.true(live.isUsed())
  t.deepEqual(live.chat(address()), {
    connector: 'main',
    stream_replies: true,
    approver_ids: ['U1'],
    most_text: 3000,
    edit_ms: 1200,
  })
  t.is(live.chat(address({ connector: 'other' })), undefined)
  const open = { allow_unauthenticated_ingress: true, approver_ids: ['U1'] }
  const { live: unsigned, address: at } = await startKind(t, open, { bot_token: botToken })
  t.deepEqual(unsigned.chat(at())?.approver_ids, [], 'slack-34: nobody decides where nothing is signed')
  t.is(live.typing, undefined, 'apps cannot show that they type')
  const posted = await live.post(address({ thread_ts: '1.1' }), message('on <b>'), signal)
  const message_id = posted.type === 'done' ? posted.message_id : ''
  t.is(message_id, `C1/${slack.messages[0]?.ts}`)
  t.like(slack.messages[0], { channel: 'C1', thread_ts: '1.1', text: 'on &lt;b&gt;' })
  t.false('blocks' in (slack.messages[0] ?? {}))
  t.deepEqual(await live.edit(address(), { message_id, message: message('on and on') }, signal), { type: 'done' })
  t.is(slack.messages[0]?.text, 'on and on')
  t.deepEqual(await live.edit(address(), { message_id: 'C1/9.9', message: message('x') }, signal), { type: 'refused' })
})

test('slack-32: what Slack says of a call holds it back or ends it', async (t) => {
  const { slack, live, address } = await startKind(t, { allowed_channel_ids: ['C1'] })
  slack.on('chat.postMessage', first(1, tooMany('4')))
  t.deepEqual(await live.post(address(), message('x'), signal), { type: 'later', retry_after_ms: 4000 })
  slack.on('chat.postMessage', cuts)
  t.deepEqual(await live.post(address(), message('x'), signal), { type: 'later' })
  slack.on('chat.postMessage', refuses('not_in_channel'))
  t.deepEqual(await live.post(address(), message('x'), signal), { type: 'refused' })
  slack.on('chat.update', refuses('invalid_auth'))
  t.like(await live.edit(address(), { message_id: 'C1/1.1', message: message('x') }, signal), {
    type: 'refused',
    trouble: { state: 'degraded' },
  })
  const asked = slack.calls.length
  t.deepEqual(await live.post(address({ channel_id: 'C2' }), message('x'), signal), { type: 'refused' })
  t.is(slack.calls.length, asked, 'nothing is said outside of the lists')
  const { live: mute, address: to } = await startKind(t, {}, {})
  t.deepEqual(await mute.post(to(), message('x'), signal), { type: 'refused' })
})

test('slack-32, slack-33: what escapes make too long for an edit is cut in a draft, and whole in a request', async (t) => {
  const { slack, live, address } = await startKind(t)
  const text = '<&>'.repeat(900)
  const posted = await live.post(address(), message('…'), signal)
  const message_id = posted.type === 'done' ? posted.message_id : ''
  const edit = (more: Partial<LiveMessage>) =>
    live.edit(address(), { message_id, message: message(text, more) }, signal)
  t.deepEqual(await edit({}), { type: 'done' })
  t.regex(slack.messages[0]?.text ?? '', /^(?:&lt;&amp;&gt;)+(?:&lt;(?:&amp;)?)? …$/u)
  t.deepEqual(await edit({ purpose: 'request' }), { type: 'done' })
  t.like(slack.messages[0]?.blocks, [{ type: 'section', text: { text } }])
})

test('slack-34: where nothing proves who pressed nobody may decide', async (t) => {
  const open = { approver_ids: ['U1'], allow_unauthenticated_ingress: true }
  const { live, address } = await startKind(t, open, { bot_token: 'xoxb-1' })
  t.deepEqual(live.chat(address())?.approver_ids, [])
})

test('slack-33: buttons stand below plain text, five in a row, and go with an edit', async (t) => {
  const { slack, live, address } = await startKind(t)
  const buttons = Array.from({ length: 6 }, (_, at) => ({ label: `B${at}`, token: `token.${at}` }))
  const request = message('May *it* <!channel>?', { purpose: 'request', buttons, asks_for_reply: true })
  const posted = await live.post(address(), request, signal)
  const blocks: any = slack.messages[0]?.blocks
  t.deepEqual(blocks[0], { type: 'section', text: { type: 'plain_text', text: request.text, emoji: false } })
  t.deepEqual(
    blocks.slice(1).map(({ type, elements }: any) => [type, elements?.map(({ value }: any) => value)]),
    [
      ['actions', ['token.0', 'token.1', 'token.2', 'token.3', 'token.4']],
      ['actions', ['token.5']],
      ['input', undefined],
    ],
  )
  const ids = blocks.flatMap(({ elements = [] }: any) => elements.map(({ action_id }: any) => action_id))
  t.is(new Set(ids).size, 6)
  t.is(slack.messages[0]?.text, 'May *it* &lt;!channel&gt;?')
  const message_id = posted.type === 'done' ? posted.message_id : ''
  await live.edit(address(), { message_id, message: message('Allowed.') }, signal)
  t.deepEqual(slack.messages[0]?.blocks, [])
})

const startInteractions = (settings: object, answer: LiveAnswer | undefined) => {
  const [asked, whispers, denied]: [(LivePress | LiveReply)[], Whisper[], string[]] = [[], [], []]
  const take = async (act: LivePress | LiveReply): Promise<any> => {
    asked.push(act)
    return answer
  }
  const interactions = createInteractions({
    live: () => ({ takeDraft: async () => undefined, press: take, reply: take }),
    denied: (name) => void denied.push(name),
    whisper: (_, whisper) => void whispers.push(whisper),
  })
  return { interactions, asked, whispers, denied, connector: connectorOf(settings) }
}

const press = (more: object = {}): any => ({
  type: 'block_actions',
  api_app_id: 'A1',
  user: { id: 'U1', name: 'ann' },
  team: { id: 'T1' },
  channel: { id: 'C1' },
  container: { type: 'message', message_ts: '2.2', channel_id: 'C1', thread_ts: '1.1' },
  actions: [{ action_id: 'holdfast_button_0', value: 'token.0' }],
  ...more,
})
const act = { plugin: 'slack', connector: 'main', actor_id: 'U1' }

test('slack-34, slack-35: a button decides for who pressed it, who alone is told what came of it', async (t) => {
  const over: LiveAnswer = { type: 'over', text: 'This is no longer open.' }
  const { interactions, asked, whispers, connector } = startInteractions({}, over)
  const given = { connector, isAuthenticated: true }
  t.is(await interactions.press(given, press()), 'interaction')
  t.deepEqual(asked, [{ ...act, actor_name: 'ann', token: 'token.0' } as LivePress])
  t.deepEqual(whispers, [{ team_id: 'T1', channel_id: 'C1', thread_ts: '1.1', user: 'U1', text: over.text }])
  const decided = startInteractions({}, { type: 'decided', text: 'Allowed.' })
  await decided.interactions.press({ ...given, connector: decided.connector }, press())
  t.deepEqual(decided.whispers, [], 'the message itself says so')
})

test('slack-12, slack-34: nothing is decided by who may not send, or by what is no button of ours', async (t) => {
  const decided: LiveAnswer = { type: 'decided', text: 'Allowed.' }
  const { interactions, asked, connector } = startInteractions({ allowed_team_ids: ['T1'] }, decided)
  const given = { connector, isAuthenticated: true }
  t.is(await interactions.press({ connector, isAuthenticated: false }, press()), 'unsupported_interaction')
  for (const other of [
    { type: 'view_submission' },
    { actions: [] },
    { actions: [{ action_id: 'other', value: 'token.0' }] },
    { actions: [{ action_id: 'holdfast_button_0', value: 7 }] },
    { user: {} },
  ])
    t.is(await interactions.press(given, press(other)), 'unsupported_interaction', JSON.stringify(other))
  await t.throwsAsync(interactions.press(given, press({ team: { id: 'T2' }, user: { id: 'U1' } })))
  await t.throwsAsync(interactions.press(given, press({ team: null, user: { id: 'U1' } })))
  const closed = startInteractions({ allowed_channel_ids: ['C2'] }, decided)
  await t.throwsAsync(closed.interactions.press({ ...given, connector: closed.connector }, press()))
  t.deepEqual([...asked, ...closed.asked], [])
  t.deepEqual(closed.denied, ['main'], 'the operator is told of the list')
})

test('slack-36: a question is answered in its field, or in the thread of its message', async (t) => {
  const invalid: LiveAnswer = { type: 'invalid', text: 'Please reply with words.' }
  const { interactions, asked, whispers, connector } = startInteractions({}, invalid)
  const typed = press({ actions: [{ action_id: 'holdfast_answer', type: 'plain_text_input', value: 'blue' }] })
  await interactions.press({ connector, isAuthenticated: true }, typed)
  const thread = { channel_id: 'C1', ts: '3.3', thread_ts: '2.2', user: 'U1', text: 'red' }
  t.true(await interactions.reply(connector, { origin: { team_id: 'T1' }, message: thread }))
  t.deepEqual(asked, [
    { ...act, actor_name: 'ann', message_id: 'C1/2.2', text: 'blue' },
    { ...act, message_id: 'C1/2.2', text: 'red' },
  ] as LiveReply[])
  t.is(whispers.length, 2)
  for (const other of [{ thread_ts: undefined }, { thread_ts: '3.3' }, { user: undefined }])
    t.false(await interactions.reply(connector, { origin: {}, message: { ...thread, ...other } }))
  t.is(asked.length, 2, 'what is in no thread answers nothing')
  const none = startInteractions({}, undefined)
  t.false(await none.interactions.reply(connector, { origin: {}, message: thread }), 'it is a message like any other')
})
