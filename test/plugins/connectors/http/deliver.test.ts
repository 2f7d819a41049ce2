import test from 'ava'
import { assert } from '../../../../core/base/assert.js'
import { checkReply } from '../../../conform/reply.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lendOutbox } from '../../../support/outbox.js'
import { startReceiver } from '../../../support/receiver.js'

test('it keeps what every reply plugin must keep', async (t) => {
  const lender = lendOutbox()
  await startTestDaemon(t, { plugins: [lender.plugin] })
  const receiver = await startReceiver(t)
  receiver.on('/silent-path', () => {})
  const reply = lender
    .get()
    .replies()
    .find(({ plugin }) => plugin === 'http')
  assert(reply, 'there is a reply plugin for http')
  await checkReply(t, {
    reply,
    requests: [
      [{ type: 'http', url: 'https://reply.example/x' }, 'https://reply.example/x'],
      [
        { type: 'http', url: 'https://reply.example/x', headers: { 'x-tag': 'a' } },
        '{"url":"https://reply.example/x","headers":{"x-tag":"a"}}',
      ],
    ],
    good: receiver.address('/good-path?token=good-query', { 'x-tag': 'good-header' }),
    silent: receiver.address('/silent-path'),
    refused: [
      'http://127.0.0.1/',
      'http://localhost:1/',
      'file:///etc/passwd',
      'http://u:p@reply.example/',
      '{"url":"http://10.0.0.1/"}',
      '{"url":"https://reply.example/","headers":{"host":"x"}}',
    ],
    secrets: ['good-path', 'good-query', 'good-header', 'silent-path'],
    arrived: () => receiver.at('/good-path?token=good-query').map(({ key }) => key),
  })
})
