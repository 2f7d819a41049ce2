import test from 'ava'
import { readEnvelope } from '../../../../plugins/connectors/slack/incoming/envelope.js'
import { eventKey, rateScope, threadKey } from '../../../../plugins/connectors/slack/incoming/keys.js'
import { readPayload } from '../../../../plugins/connectors/slack/incoming/payload.js'
import { isDenied, isTargetDenied } from '../../../../plugins/connectors/slack/setup/allow-lists.js'
import { messageEvent } from '../../../support/slack-server.js'
import { settingsOf } from './bench.js'

const answerOf = (payload: any) => {
  const read = readEnvelope(payload)
  return read.type === 'ignored' ? read.answer : read.type === 'invalid' ? read.what : read.type
}

test('slack-8: a challenge is given back, an absent one as an empty text', (t) => {
  t.deepEqual(readEnvelope({ type: 'url_verification', challenge: 'c' }), { type: 'challenge', challenge: 'c' })
  t.deepEqual(readEnvelope({ type: 'url_verification' }), { type: 'challenge', challenge: '' })
})

test('slack-9: what is no message is acknowledged and ignored', (t) => {
  t.deepEqual(answerOf({ type: 'app_rate_limited', minute_rate_limited: 1_518_467_820 }), {
    ignored: true,
    type: 'app_rate_limited',
    minute_rate_limited: 1_518_467_820,
  })
  for (const type of ['block_actions', 'event', undefined, 7])
    t.deepEqual(answerOf({ type }), { ignored: true, reason: 'unsupported_envelope' })
  for (const type of ['app_mention', 'reaction_added', 'app_uninstalled', undefined])
    t.deepEqual(answerOf(messageEvent({ type })), { ignored: true, reason: 'unsupported_event' })
  t.is(answerOf({ type: 'event_callback' }), 'it has no event')
  t.is(answerOf({ type: 'event_callback', event: 'message' }), 'it has no event')
})

test('slack-10: only what people write, with or without files, becomes a run', (t) => {
  const ignored = { ignored: true, reason: 'unsupported_message_subtype' }
  t.deepEqual(answerOf(messageEvent({ bot_id: 'B1' })), ignored)
  for (const subtype of ['bot_message', 'message_changed', 'message_deleted', 'channel_join', 'thread_broadcast'])
    t.deepEqual(answerOf(messageEvent({ subtype })), ignored, subtype)
  const ours = { subtype: 'file_share', user: 'UBOT' }
  t.deepEqual(answerOf(messageEvent(ours)), ignored, 'files of our own bot come with no bot_id')
  t.is(answerOf(messageEvent(ours, { authorizations: [{ user_id: 'UBOT', is_bot: false }] })), 'message')
  t.is(answerOf(messageEvent({ user: undefined }, { authorizations: [{ is_bot: true }] })), 'message')
  t.is(answerOf(messageEvent()), 'message')
  t.is(answerOf(messageEvent({ subtype: 'file_share' })), 'message')
  t.is(answerOf(messageEvent({ channel: ' ' })), 'its message has no channel')
  t.is(answerOf(messageEvent({ ts: undefined })), 'its message has no ts')
  t.is(answerOf(messageEvent({ ts: undefined, thread_ts: '1.1' })), 'message')
})

/** The keys of a message, by what is said of where it comes from. */
const keysOf = (event: object, envelope: object) => {
  const read = readEnvelope(messageEvent({ ts: '2.2', ...event }, { event_id: 'Ev', authorizations: [], ...envelope }))
  if (read.type !== 'message') throw new Error('it is a message')
  const { origin, message } = read
  return [threadKey('main', origin, message), eventKey('main', origin, message), rateScope(origin, message)]
}
const nowhere = { team_id: undefined, context_team_id: undefined }

test('slack-13, slack-15: a thread has its session, an event its key, by enterprise, workspace and channel', (t) => {
  t.deepEqual(keysOf({}, {}), ['slack:main:team:T1:C1:2.2', 'slack:main:team:T1:Ev', 'team:T1:C1'])
  t.deepEqual(keysOf({ thread_ts: '1.1' }, { context_enterprise_id: 'E1' }), [
    'slack:main:enterprise:E1:team:T1:C1:1.1',
    'slack:main:enterprise:E1:team:T1:Ev',
    'enterprise:E1:team:T1:C1',
  ])
  t.deepEqual(keysOf({ team: undefined }, { ...nowhere, enterprise_id: ' E2 ' }), [
    'slack:main:enterprise:E2:C1:2.2',
    'slack:main:enterprise:E2:Ev',
    'enterprise:E2:C1',
  ])
  t.deepEqual(keysOf({ team: ' ' }, { ...nowhere, event_id: undefined }), [
    'slack:main:C1:2.2',
    'slack:main:workspace:C1:2.2',
    'workspace:C1',
  ])
})

test('slack-13: the workspace is what is said of the context, the envelope, the event, the first authorization', (t) => {
  const authorizations = [{ team_id: 'T4', enterprise_id: 'E4' }]
  const all = { context_team_id: 'T1', team_id: 'T2', authorizations }
  const session = (event: object, envelope: object) => keysOf(event, envelope)[0]
  t.is(session({ team: 'T3' }, { ...all, enterprise_id: 'E2' }), 'slack:main:enterprise:E2:team:T1:C1:2.2')
  t.is(session({ team: 'T3' }, { ...all, context_team_id: '' }), 'slack:main:enterprise:E4:team:T2:C1:2.2')
  t.is(session({ team: 'T3' }, { ...nowhere, authorizations }), 'slack:main:enterprise:E4:team:T3:C1:2.2')
  t.is(session({ team: undefined }, { ...nowhere, authorizations }), 'slack:main:enterprise:E4:team:T4:C1:2.2')
})

const denied = (lists: object, event: object = {}, envelope: object = {}): boolean => {
  const read = readEnvelope(messageEvent(event, envelope))
  if (read.type !== 'message') throw new Error('it is a message')
  return isDenied(settingsOf(lists), read.origin, { needsChannel: true })
}

test('slack-11: an empty list lets all in, one that is there lets in what it has, and nothing that is not said', (t) => {
  t.false(denied({}))
  const right = {
    allowed_api_app_ids: ['A1'],
    allowed_team_ids: ['T1'],
    allowed_channel_ids: ['C1'],
  }
  t.false(denied(right))
  for (const list of Object.keys(right)) t.true(denied({ ...right, [list]: ['other'] }), list)
  t.true(denied({ allowed_enterprise_ids: ['E1'] }), 'no enterprise is said')
  t.true(denied(right, {}, { api_app_id: undefined }))
  const both = { context_enterprise_id: 'E1', authorizations: [] }
  t.false(denied({ allowed_enterprise_ids: ['E1'] }, {}, both))
})

test('slack-12: each authorization must be of an enterprise and a workspace that are let in', (t) => {
  const of = (...authorizations: object[]) => denied({ allowed_team_ids: ['T1', 'T2'] }, {}, { authorizations })
  t.false(of({ team_id: 'T1' }, { team_id: 'T2' }))
  t.true(of({ team_id: 'T1' }, { team_id: 'T3' }))
  t.true(of({ team_id: 'T1' }, { team_id: null }))
  t.true(of({ team_id: 'T1' }, {}))
  const lists = { allowed_enterprise_ids: ['E1'] }
  const envelope = (...authorizations: object[]) => ({ context_enterprise_id: 'E1', authorizations })
  t.false(denied(lists, {}, envelope({ enterprise_id: 'E1' })))
  t.true(denied(lists, {}, envelope({ enterprise_id: 'E1' }, { enterprise_id: 'E2' })))
})

test('slack-21: a target is looked at as an event is', (t) => {
  const lists = settingsOf({ allowed_team_ids: ['T1'], allowed_channel_ids: ['C1'] })
  t.false(isTargetDenied(lists, { team_id: 'T1', channel_id: 'C1' }))
  t.true(isTargetDenied(lists, { team_id: 'T2', channel_id: 'C1' }))
  t.true(isTargetDenied(lists, { team_id: 'T1', channel_id: 'C2' }))
  t.true(isTargetDenied(lists, { channel_id: 'C1' }))
})

test('slack-7: a body is JSON in UTF-8, or the form of a button; of large numbers nothing is lost', (t) => {
  const read = (text: string) => readPayload(Buffer.from(text))
  t.deepEqual(read('{"a":1}'), { type: 'event', payload: { a: 1 } })
  t.deepEqual(read('{"a":12345678901234567890}'), { type: 'event', payload: { a: '12345678901234567890' } })
  t.deepEqual(read(`payload=${encodeURIComponent('{"a":"ü +"}')}`), { type: 'interaction', payload: { a: 'ü +' } })
  for (const text of ['', '[]', '"x"', 'null', '{', 'token=x&command=%2Fdo', 'payload=', 'payload=%7B', 'payload=[]'])
    t.is(read(text).type, 'unreadable', text)
  t.is(read(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`).type, 'unreadable')
  t.is(readPayload(Buffer.from([0x7b, 0xff, 0x7d])).type, 'unreadable')
})
