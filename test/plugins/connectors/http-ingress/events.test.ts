/** What is posted; docs/rules/webhooks.md. */
import test from 'ava'
import { sessionOfKey } from '../../../../plugins/connectors/http-ingress/event.js'
import { open, startHttp, toldIn } from './posting.js'

test('webhooks-5, webhooks-6, webhooks-7, webhooks-8, webhooks-10, webhooks-11: a message becomes one run, in its session, and says no more than it may', async (t) => {
  const daemon = await startHttp(t)
  const { put, post } = daemon
  await put('orders', open)
  const event = {
    content: 'hello',
    binding_keys: ['customer:acme', 'channel:ticket-123'],
    idempotency_key: ' order-123 ',
    metadata: { k: 'v' },
    session_id: null,
    reply_plugin: null,
  }
  t.is(sessionOfKey('orders', 'channel:ticket-123'), 'http:orders:0630704c41f98abb')
  const answers = await Promise.all(Array.from({ length: 5 }, () => post('orders', event)))
  t.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body.run_id}`)).size, 1)
  const [first] = answers
  t.is(first?.status, 200)
  const run = first?.body
  t.is(run.session_id, 'http:orders:0630704c41f98abb')
  t.deepEqual(Object.keys(run).toSorted(), [
    'agent_id',
    'kind',
    'request',
    'run_id',
    'session_id',
    'status',
    'submitted_at_ms',
    'updated_at_ms',
  ])
  t.deepEqual(run.request, { source_plugin: 'http', source_kind: 'orders', actor_id: 'http-webhook' })
  const key = 'http:orders:3b6a198e6f182f27b91aa5a8b37ab70d'
  const { input_metadata } = (await daemon.request('GET', `/v1/runs/${run.run_id}`)).body
  t.deepEqual(input_metadata, {
    k: 'v',
    connector_ingress_key: key,
    http_ingress_key: key,
    http_ingress_key_sha256: input_metadata.http_ingress_key_sha256,
    http_ingress_fingerprint: input_metadata.http_ingress_fingerprint,
  })
  t.true(input_metadata.http_ingress_key_sha256.startsWith('3b6a198e6f182f27b91aa5a8b37ab70d'))
  t.regex(input_metadata.http_ingress_fingerprint, /^[0-9a-f]{64}$/u)

  const { session_id: _session, reply_plugin: _plugin, ...said } = event
  t.is((await post('orders', said)).body.run_id, run.run_id, 'null is as good as absent')
  t.is((await post('orders', { ...event, actor_id: null, reply_targets: null })).body.run_id, run.run_id)
  t.like(await daemon.request('GET', '/v1/connectors/http/orders'), {
    status: 405,
    body: { code: 'method_not_allowed', domain: 'connector_ingress' },
  })

  await put('orders', { fixed_session_id: 'elsewhere', ingress_events_per_second: 1 })
  for (let at = 0; at < 5; at += 1) t.is((await post('orders', event)).body.run_id, run.run_id)
  const other = await post('orders', { ...event, content: 'other' })
  t.deepEqual(toldIn(other), [409, 'conflict', 'other_payload'])
  t.like(other.body, { run_id: run.run_id, session_id: run.session_id, domain: 'connector_ingress' })
  t.deepEqual(toldIn(await post('orders', { ...event, idempotency_key: 'order-123' })), [
    409,
    'conflict',
    'other_payload',
  ])

  t.is((await post('orders', { content: 'x', idempotency_key: 'fresh' })).body.session_id, 'elsewhere')
  const limited = await post('orders', { content: 'x', idempotency_key: 'fresher' })
  t.deepEqual(toldIn(limited), [429, 'http_ingress_rate_limited'])
  t.deepEqual([limited.headers['retry-after'], limited.body.retry_after_ms], ['1', 1000])
  t.true(limited.body.detail.endsWith('retry_after_ms=1000'))

  await put('plain', { ...open, default_binding_keys: [], actor_id: 'shop' })
  const refused = async (body: unknown, ...told: unknown[]) =>
    t.deepEqual(toldIn(await post('plain', body)), told, JSON.stringify(body))
  const asked = { content: 'x', idempotency_key: 'b', session_id: 'plain' }
  await refused('{', 400, 'bad_request')
  await refused('[]', 400, 'bad_request')
  await refused({ ...asked, colour: 'red' }, 400, 'bad_request')
  await refused({ ...asked, idempotency_key: ' ' }, 400, 'bad_request', 'idempotency_key_missing')
  await refused({ content: 'x', idempotency_key: 'b' }, 400, 'bad_request', 'session_unresolved')
  await refused({ ...asked, binding_keys: [' '] }, 400, 'bad_request', 'binding_key_blank')
  await refused({ ...asked, metadata: { http_ingress_anything: 1 } }, 400, 'bad_request', 'reserved_metadata_key')
  await refused({ ...asked, metadata: { connector_ingress_key: 1 } }, 400, 'bad_request', 'reserved_metadata_key')
  const targets = [{ plugin: 'http', address: 'https://example.com/' }]
  await refused({ ...asked, reply_targets: targets }, 400, 'bad_request', 'reply_targets_refused')
  await refused({ ...asked, reply_plugin: 'http' }, 400, 'bad_request', 'reply_targets_refused')
  await refused({ ...asked, content: ' ' }, 400, 'bad_request', 'run_input_missing')
  await refused({ ...asked, input_items: [{ type: 'text', text: 'y' }] }, 400, 'bad_request', 'run_input_conflict')
  await refused({ ...asked, content: 'x'.repeat(2 * 1024 * 1024) }, 413, 'payload_too_large')
  const mebibyte = 'é'.repeat(512 * 1024)
  await refused({ ...asked, content: `${mebibyte}x` }, 400, 'bad_request', 'content_too_large')
  t.is((await daemon.request('GET', '/v1/sessions/plain')).status, 404, 'a refused message leaves nothing')
  const whole = { ...asked, idempotency_key: 'whole', content: mebibyte, metadata: { more: 'x'.repeat(1_040_000) } }
  t.is((await post('plain', whole)).status, 200)

  const taken = await post('plain', { ...asked, metadata: [1], actor_id: 'me' })
  t.like(taken.body.request, { actor_id: 'me' })
  t.is(taken.body.session_id, 'plain')
  const shown = await daemon.request('GET', `/v1/runs/${taken.body.run_id}`)
  t.deepEqual(shown.body.input_metadata.payload, [1])
  t.like((await post('plain', { ...asked, idempotency_key: 'c' })).body.request, { actor_id: 'shop' })

  await put('plain', { allow_payload_reply_targets: true, require_idempotency_key: false })
  await refused({ ...asked, idempotency_key: 'd', reply_plugin: 'http' }, 400, 'bad_request', 'reply_target_incomplete')
  const local = { ...asked, idempotency_key: 'd', reply_targets: [{ plugin: 'http', address: 'http://127.0.0.1/' }] }
  await refused(local, 400, 'bad_request', 'reply_target_invalid')
  t.is((await post('plain', local)).body.errors[0].path, 'body.reply_targets.0.address')
  await refused({ ...asked, idempotency_key: 'd', content: '' }, 400, 'bad_request', 'run_input_missing')
  const replied = await post('plain', { ...asked, idempotency_key: 'd', reply_targets: targets })
  t.is(replied.status, 200)
  const keyless = [
    await post('plain', { content: 'x', session_id: 'plain' }),
    await post('plain', { content: 'x', session_id: 'plain' }),
  ]
  t.is(new Set(keyless.map(({ body }) => body.run_id)).size, 2, 'without a key each is one of its own')
})

test('webhooks-9: who proves nothing may say neither session nor keys nor files nor targets', async (t) => {
  const { put, post } = await startHttp(t)
  await put('open', {
    ...open,
    bearer_token: {},
    allow_unauthenticated_ingress: true,
    allow_payload_reply_targets: true,
  })
  const told = async (more: object) => toldIn(await post('open', { content: 'x', idempotency_key: 'a', ...more }, {}))
  const refused = [400, 'bad_request', 'unauthenticated']
  const file = { file_name: 'a.txt', media_type: 'text/plain', content_base64: 'YQ==' }
  t.deepEqual(await told({ session_id: 's' }), refused)
  t.deepEqual(await told({ binding_keys: ['a'] }), refused)
  t.deepEqual(await told({ attachments: [file] }), refused)
  t.deepEqual(await told({ content: '', input_items: [{ type: 'inline_asset', ...file }] }), refused)
  t.deepEqual(await told({ content: '', input_items: [{ type: 'asset_reference', asset_id: 'a' }] }), refused)
  t.deepEqual(await told({ content: '', input_items: [{ type: 'board_reference', board_id: 'a' }] }), refused)
  t.deepEqual(await told({ reply_targets: [{ plugin: 'http', address: 'https://example.com/' }] }), refused)
  t.deepEqual(await told({ reply_plugin: 'http', reply_address: 'https://example.com/' }), refused)
  t.is((await told({}))[0], 200)
  t.is((await told({ content: '', idempotency_key: 'b', input_items: [{ type: 'text', text: 'y' }] }))[0], 200)
})
