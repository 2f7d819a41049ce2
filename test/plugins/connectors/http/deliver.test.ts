import test from 'ava'
import { assert } from '../../../../core/base/assert.js'
import { retryAfterMs } from '../../../../plugins/connectors/http/retry-after.js'
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

test('deliveries-28: Retry-After is read as seconds and as a date; a second stands for what cannot be read', (t) => {
  const now = Date.UTC(2026, 0, 1)
  const cases: readonly [string | undefined, number][] = [
    ['0', 0],
    ['1', 1000],
    [' 120 ', 120_000],
    ['999999999', 999_999_999_000],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Thursday, 01-Jan-26 00:01:00 GMT', 60_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    [undefined, 1000],
    ['', 1000],
    ['soon', 1000],
    ['-5', 1000],
    ['1.5', 1000],
    ['1e3', 1000],
    ['9999999999', 1000],
    ['2026-01-01T00:00:30Z', 1000],
    ['Thu, 99 Jan 2026', 1000],
  ]
  for (const [header, ms] of cases) t.is(retryAfterMs(header, now), ms, String(header))
})
