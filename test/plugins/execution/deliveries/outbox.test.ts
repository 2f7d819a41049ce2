import test from 'ava'
import { Problem } from '../../../../core/plugin.js'
import type { Outbox, OutboxItem } from '../../../../plugins/execution/deliveries/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lendOutbox } from '../../../support/outbox.js'
import { openSession } from '../../../support/runs.js'

const refusal = (run: () => unknown): unknown => {
  try {
    run()
  } catch (error) {
    return error instanceof Problem ? [error.code, error.spec.status, error.occurrence.errors] : error
  }
  return 'accepted'
}

test('requested targets become handles, in order and without repetitions', async (t) => {
  const { plugin, get } = lendOutbox()
  await startTestDaemon(t, { plugins: [plugin] })
  const handles = get().outbox.normalize(
    [
      { type: 'http', url: 'https://b.example/x' },
      { plugin: 'http', address: 'https://a.example/x' },
      { type: 'raw', plugin: 'http', address: 'https://b.example/x' },
      { type: 'http', url: 'https://a.example/x', headers: { 'X-Tag': 'one' } },
    ],
    'body.reply_targets',
  )
  const [third] = handles.splice(2)
  t.deepEqual(handles, [
    { plugin: 'http', address: 'https://b.example/x' },
    { plugin: 'http', address: 'https://a.example/x' },
  ])
  t.deepEqual(Object.keys(JSON.parse(third?.address ?? '')), ['url', 'sealed_headers'])
  t.deepEqual(get().outbox.normalize(third === undefined ? [] : [third], ''), [third], 'as it is stored')
})

test('deliveries-25, deliveries-26: a target that cannot work is refused with its place and the rule, and never with its address', async (t) => {
  const { plugin, get } = lendOutbox()
  await startTestDaemon(t, { plugins: [plugin] })
  const normalize = (target: Parameters<Outbox['normalize']>[0][number]) =>
    refusal(() =>
      get().outbox.normalize([{ plugin: 'http', address: 'https://fine.example' }, target], 'body.reply_targets'),
    )
  const invalid = (path: string, rule: string) => ['reply_target_invalid', 400, [{ path, rule }]]
  t.deepEqual(
    normalize({ type: 'raw', plugin: 'pigeon', address: 'loft' }),
    invalid('body.reply_targets.1.plugin', 'must be a plugin that takes replies'),
  )
  t.deepEqual(
    normalize({ plugin: 'pigeon', address: 'loft' }),
    invalid('body.reply_targets.1.plugin', 'must be a plugin that takes replies'),
  )
  t.deepEqual(
    normalize({ type: 'slack', connector: 'none', channel_id: 'C1' }),
    invalid('body.reply_targets.1.connector', 'must name a Slack connector that is there'),
  )
  t.deepEqual(
    normalize({ type: 'http', url: 'http://127.0.0.1/token' }),
    invalid(
      'body.reply_targets.1.url',
      'must not name a private, local or special address that allow_cidrs of config/http.toml had not when the daemon started',
    ),
  )
  const [url, headers] = ['https://fine.example', { 'X-Team': 'a', Authorization: 'canary' }]
  t.deepEqual(
    normalize({ type: 'http', url, headers }),
    invalid('body.reply_targets.1.headers', 'must not set the header authorization'),
  )
  t.deepEqual(
    normalize({ type: 'http', url, headers: { 'X-Team': 'a', 'X Y': 'canary' } }),
    invalid('body.reply_targets.1.headers', 'must hold headers that are valid in HTTP, and "X Y" is not'),
  )
  t.deepEqual(
    normalize({ type: 'http', url: 'file:///x', headers }),
    invalid('body.reply_targets.1.url', 'must begin with http:// or https://'),
  )
  t.deepEqual(
    normalize({ plugin: 'http', address: 'file:///etc/passwd' }),
    invalid('body.reply_targets.1.address', 'must begin with http:// or https://'),
  )
})

const item = (more: Partial<OutboxItem> = {}): OutboxItem => ({
  session_id: 's1',
  agent_id: 'agent_1',
  output: 3,
  content: 'hello',
  targets: [
    { plugin: 'http', address: 'https://a.invalid/x' },
    { plugin: 'http', address: 'https://b.invalid/x' },
  ],
  ...more,
})

test('deliveries-8: an output has one delivery for each target, however often it is enqueued', async (t) => {
  const { plugin, get } = lendOutbox()
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  await openSession(daemon)
  const { outbox, state } = get()
  await state.commit((tx) => {
    outbox.enqueue(tx, item())
    outbox.enqueue(tx, item())
  })
  await state.commit((tx) => outbox.enqueue(tx, item()))
  const ids = (await daemon.request('GET', '/v1/deliveries')).body.map((view: any) => view.delivery_id)
  t.is(ids.length, 2)
  await state.commit((tx) => outbox.enqueue(tx, item({ output: 4 })))
  t.is((await daemon.request('GET', '/v1/deliveries')).body.length, 4)
})
