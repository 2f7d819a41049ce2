import test from 'ava'
import { clientMessageId, planSteps } from '../../../../plugins/connectors/slack/outgoing/steps.js'
import { escapeText, piecesOf, unescapeText } from '../../../../plugins/connectors/slack/api/mrkdwn.js'
import type { AttachmentRef } from '../../../../plugins/media/assets/contract.js'
import { unsafeCast } from '../../../../core/plugin.js'
import { namedIn } from '../../../../plugins/connectors/slack/api/message-name.js'
import { showText } from '../../../../plugins/connectors/slack/outgoing/post.js'
import { fileOf, said } from './bench.js'

const keys = (
  content: string,
  parts: Parameters<typeof planSteps>[0]['parts'],
  { isThreaded = true, artifacts = [] }: { isThreaded?: boolean; artifacts?: AttachmentRef[] } = {},
) =>
  planSteps({ content, parts, artifacts }, { isThreaded }).map((step) =>
    step.type === 'text' ? [step.key, step.text] : step.key,
  )
const a = { type: 'attachment' as const, attachment: fileOf('asset_1', 'a.csv') }

test('slack-22: an output is its content, or its parts in their order; blank words are not said', (t) => {
  t.deepEqual(keys('all', []), [['content', 'all']])
  t.deepEqual(keys(' \n', []), [])
  t.deepEqual(keys('all', [said('one'), a, said(' '), said('two')]), [
    ['text:0', 'one'],
    'attachment:1:asset_1',
    ['text:3', 'two'],
  ])
  const artifacts = [a.attachment, fileOf('asset_9', 'c.csv')]
  t.deepEqual(keys('all', [a], { artifacts }), ['attachment:0:asset_1', 'artifact:1:asset_9'])
  t.deepEqual(keys('all', [], { artifacts }), [['content', 'all'], 'artifact:0:asset_1', 'artifact:1:asset_9'])
  const whole = 'word '.repeat(8000)
  t.deepEqual(keys(whole, []), [['content', whole]], 'no text is split that one message can hold')
})

test('slack-22: what one message cannot hold follows in messages behind it, with no sign cut in two', (t) => {
  const [amps, faces] = ['&'.repeat(8000), `${'x'.repeat(39_999)}\u{1f600}yz`]
  t.deepEqual(keys(`${amps}&b`, []), [
    ['content', amps],
    ['content:chunk:1', '&b'],
  ])
  t.deepEqual(keys('all', [a, said(faces), said('two')], { isThreaded: false }), [
    ['anchor', 'x'.repeat(39_999)],
    ['anchor:chunk:1', '\u{1f600}yz'],
    'attachment:0:asset_1',
    ['text:2', 'two'],
  ])
  const long = 'word '.repeat(50_000)
  const pieces = piecesOf(long)
  t.is(pieces.join(''), long)
  t.true(pieces.every((piece) => escapeText(piece).length <= 40_000))
})

test('slack-23: before a file that would begin a thread come words, the first of the output or its content', (t) => {
  t.deepEqual(keys('all', [a, said('one'), said('two')], { isThreaded: false }), [
    ['anchor', 'one'],
    'attachment:0:asset_1',
    ['text:2', 'two'],
  ])
  t.deepEqual(keys('all', [a], { isThreaded: false }), [['anchor', 'all'], 'attachment:0:asset_1'])
  t.deepEqual(keys(' ', [a, said(' ')], { isThreaded: false }), ['attachment:0:asset_1'])
  t.deepEqual(keys('all', [a, said('one')]), ['attachment:0:asset_1', ['text:1', 'one']], 'a thread is given')
  t.deepEqual(keys('all', [said('one'), a], { isThreaded: false }), [['text:0', 'one'], 'attachment:1:asset_1'])
  t.deepEqual(
    keys('all', [said(' '), a, said('one')], { isThreaded: false })[0],
    ['anchor', 'one'],
    'what is seen first is a file',
  )
})

test('slack-24: the id of a message follows from its delivery and its step', (t) => {
  t.is(clientMessageId('delivery-1', 'anchor'), '2d23fe16-f5d4-4c73-8563-34b002de4a82')
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/u
  const made = ['content', 'text:0', 'text:1'].map((step) => clientMessageId('d', step))
  t.is(new Set(made).size, 3)
  for (const id of made) t.regex(id, uuid)
})

test('slack-25: words mention nobody and hide no link, and come back as they were typed', (t) => {
  t.is(escapeText('<!channel> <@U1> <https://a|b> a & b'), '&lt;!channel&gt; &lt;@U1&gt; &lt;https://a|b&gt; a &amp; b')
  for (const text of ['1 < 2 && 3 > 2', '&lt;', '&amp;lt;', '<<>>&&']) t.is(unescapeText(escapeText(text)), text)
})

test('slack-30: what a platform says of a message is kept only where it can be a name of one', async (t) => {
  const kept: unknown[] = []
  const told = { ok: true, ts: '1'.repeat(300_000), channel: 'C1' }
  const request = () =>
    Promise.resolve({ type: 'answer', status: 200, headers: {}, body: Buffer.from(JSON.stringify(told)) })
  const progress = {
    message: () => ({}),
    setMessage: (_: string, message: object) => Promise.resolve(void kept.push(message)),
  }
  const step = { api: { outbound: { request }, config: {}, base: 'https://slack.com/api', token: 't' }, progress }
  const more = { delivery_id: 'd', key: 'content', text: 'hello', shown: { channel_id: 'C1' } }
  t.is(await showText(unsafeCast({ ...step, ...more })), undefined)
  t.deepEqual(kept.at(-1), { client_msg_id: clientMessageId('d', 'content'), ts: '' })
  t.deepEqual(['1700000000.000100', 'C024BE7LH', '', 'a/b', 7, null].map(namedIn), [
    '1700000000.000100',
    'C024BE7LH',
    ...Array.from({ length: 4 }, () => undefined),
  ])
})
