/** Deliveries to sidecars; docs/rules/external.md. */
import test, { type ExecutionContext } from 'ava'
import { assert } from '../../../../core/base/assert.js'
import { createClock } from '../../../../core/base/clock.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createOutbound } from '../../../../core/http/outbound/outbound.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { createSidecarClient } from '../../../../plugins/connectors/external/sidecar/client.js'
import type { ExternalConnector } from '../../../../plugins/connectors/external/setup/connector.js'
import type { Envelope } from '../../../../plugins/execution/deliveries/contract.js'
import { checkReply } from '../../../conform/reply.js'
import { lendOutbox } from '../../../support/outbox.js'
import { cutting, hanging, saying, startSidecar } from '../../../support/sidecar.js'
import { specialAddresses } from '../../../support/special-addresses.js'
import { startExternal } from './sending.js'

const never = new AbortController().signal
const addressOf = (connector: string, route = 'channel-2'): string => JSON.stringify({ connector, route })
const envelopeOf = (more: Partial<Envelope> = {}): Envelope => ({
  delivery_id: 'delivery_1',
  attempt: 3,
  session_id: 's1',
  thread_id: null,
  address: addressOf('main'),
  content: 'hello',
  parts: [],
  artifacts: [],
  metadata: { delivery_id: 'delivery_1', delivery_attempt: 3 },
  ...more,
})
const file = {
  id: 'asset_1',
  media_type: 'text/plain',
  uri: 'x',
  file_name: 'a.txt',
  sha256: 'f'.repeat(64),
  byte_length: 3,
}

const start = async (t: ExecutionContext) => {
  const clock = createLeapingClock({ still: true })
  const lender = lendOutbox()
  const daemon = await startExternal(t, { plugins: [lender.plugin], clock })
  const reply = lender
    .get()
    .replies()
    .find(({ plugin }) => plugin === 'external')
  assert(reply, 'there is a reply plugin for external')
  const deliver = (more: Partial<Envelope> = {}) => reply.deliver(envelopeOf(more), never)
  return { ...daemon, clock, lender, reply, deliver }
}

test('external-29, external-30, external-31, external-32, external-33, external-34, external-35, external-36, external-37, external-38, external-44: outputs go to the sidecar, at least once', async (t) => {
  const daemon = await start(t)
  const { sidecar, deliver, reply, clock, put, change, view, request } = daemon

  // external-29, external-35: what is sent.
  const whole = envelopeOf({
    thread_id: 't1',
    parts: [
      { type: 'text', text: 'hello' },
      { type: 'attachment', attachment: file },
    ],
    artifacts: [file],
  })
  t.deepEqual(await reply.deliver(whole, never), { type: 'delivered' })
  const [sent] = sidecar.at('/deliver')
  assert(sent, 'it arrived')
  const descriptor = {
    id: 'asset_1',
    media_type: 'text/plain',
    file_name: 'a.txt',
    sha256: 'f'.repeat(64),
    byte_length: 3,
    download_path: '/v1/connectors/external/main/deliveries/delivery_1/assets/asset_1/raw',
  }
  t.deepEqual(sent.body, {
    protocol_version: 1,
    delivery_id: 'delivery_1',
    attempt: 3,
    reply_route: 'channel-2',
    conversation: { session_id: 's1', thread_id: 't1' },
    content: 'hello',
    parts: [
      { type: 'text', text: 'hello' },
      { type: 'attachment', attachment: descriptor },
    ],
    artifacts: [descriptor],
    metadata: { delivery_id: 'delivery_1', delivery_attempt: 3 },
  })
  t.like(sent.headers, {
    authorization: 'Bearer shared-canary',
    'idempotency-key': 'service:delivery_1',
    'x-service-external-protocol-version': '1',
    'content-type': 'application/json',
  })
  await deliver()
  t.deepEqual(Object.keys(sidecar.at('/deliver')[1]?.body), [
    'protocol_version',
    'delivery_id',
    'attempt',
    'reply_route',
    'conversation',
    'content',
    'metadata',
  ])
  t.like(sidecar.asked[0], { method: 'GET', path: '/manifest', body: undefined })
  t.is(sidecar.asked[0]?.headers['authorization'], 'Bearer shared-canary')

  // external-30: a manifest is believed for five minutes, and at no other place.
  t.is(sidecar.at('/manifest').length, 1)
  clock.leap(299_000)
  await deliver()
  t.is(sidecar.at('/manifest').length, 1)
  clock.leap(2000)
  await Promise.all([deliver(), deliver(), deliver()])
  t.is(sidecar.at('/manifest').length, 2, 'many ask once')
  await change('main', { base_url: `${sidecar.url}/moved` })
  sidecar.on('/moved/manifest', saying(200, { protocol_version: 2, instance_id: 'x' }))
  t.deepEqual(await deliver(), { type: 'retry', code: 'sidecar_version_unsupported' })
  t.like((await view()).health, {
    state: 'degraded',
    cause: 'The sidecar speaks another version than 1 of the protocol.',
  })
  for (const [answer, code] of [
    [saying(200, 'no json'), 'sidecar_answer_invalid'],
    [saying(200, { protocol_version: 1 }), 'sidecar_answer_invalid'],
    [
      saying(200, { protocol_version: 1, instance_id: 'x', capabilities: { threads: 'yes' } }),
      'sidecar_answer_invalid',
    ],
    [saying(200, { protocol_version: 1, instance_id: 'x'.repeat(401) }), 'sidecar_answer_invalid'],
    [saying(200, { protocol_version: '1', instance_id: 'x' }), 'sidecar_answer_invalid'],
    [saying(503, {}), 'sidecar_status_503'],
    [saying(302, '', { location: `${sidecar.url}/manifest` }), 'sidecar_status_302'],
    [saying(200, 'x'.repeat(65_537)), 'outbound_answer_too_large'],
    [cutting, 'outbound_connection_broken'],
  ] as const) {
    sidecar.on('/moved/manifest', answer)
    t.like(await deliver(), { type: 'retry', code })
  }
  const before = sidecar.at('/deliver').length
  t.is(sidecar.at('/moved/deliver').length, 0, 'nothing is sent to what does not say who it is')
  sidecar.on('/moved/manifest', saying(200, { protocol_version: 1, instance_id: 'x', capabilities: null, more: [1] }))
  sidecar.on('/moved/deliver', saying(200, { status: 'committed', detail: null, more: 1 }))
  t.deepEqual(await deliver(), { type: 'delivered' })
  t.is(sidecar.at('/deliver').length, before)
  t.is((await view()).health.state, 'ok')
  await change('main', { base_url: sidecar.url })

  // external-31: who does not answer is not waited for.
  const waited = async (path: string, ms: number, outcome: object) => {
    sidecar.on(path, hanging)
    const known = sidecar.at(path).length
    const outcomes = deliver()
    await sidecar.until(() => sidecar.at(path).length > known, path)
    clock.leap(ms - 1000)
    t.is(await Promise.race([outcomes, createClock().sleep(20)]), true, `${path} has ${ms} ms`)
    clock.leap(1000)
    t.deepEqual(await outcomes, outcome as never)
    sidecar.on(path, undefined)
  }
  await waited('/manifest', 3000, { type: 'retry', code: 'outbound_timed_out' })
  t.like((await view()).health, { state: 'degraded', cause: 'The sidecar does not answer in time.' })
  await waited('/deliver', 15_000, { type: 'retry', code: 'outbound_timed_out', uncertain: true })

  // external-32, external-33, external-45, external-49: the table of outcomes.
  const uncertain = { uncertain: true } as const
  const said = (status: string) => ({ status, detail: 'canary' })
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  const rows = [
    [saying(200, said('committed')), { type: 'delivered' }],
    [saying(204, ''), { type: 'retry', code: 'sidecar_answer_invalid', ...uncertain }],
    [saying(200, `{"status":"committed","x":${deep}}`), { type: 'delivered' }],
    [
      saying(200, '{"__proto__":{"status":"committed"}}'),
      { type: 'retry', code: 'sidecar_answer_invalid', ...uncertain },
    ],
    [saying(200, '["committed"]'), { type: 'retry', code: 'sidecar_answer_invalid', ...uncertain }],
    [saying(200, said('retryable_error')), { type: 'retry', code: 'sidecar_retryable_error' }],
    [saying(200, said('terminal_error')), { type: 'terminal', code: 'sidecar_terminal_error' }],
    [saying(200, said('other')), { type: 'retry', code: 'sidecar_answer_invalid', ...uncertain }],
    [saying(201, 'no json'), { type: 'retry', code: 'sidecar_answer_invalid', ...uncertain }],
    [saying(400, said('retryable_error')), { type: 'retry', code: 'sidecar_retryable_error' }],
    [saying(500, said('terminal_error')), { type: 'terminal', code: 'sidecar_terminal_error' }],
    [saying(400, said('committed')), { type: 'terminal', code: 'sidecar_status_400' }],
    [saying(404, 'not found'), { type: 'terminal', code: 'sidecar_status_404' }],
    [saying(500, said('committed')), { type: 'retry', code: 'sidecar_status_500' }],
    [saying(503, ''), { type: 'retry', code: 'sidecar_status_503' }],
    [saying(302, '', { location: `${sidecar.url}/elsewhere` }), { type: 'retry', code: 'sidecar_status_302' }],
    [saying(429, said('terminal_error')), { type: 'retry', code: 'sidecar_status_429', retry_after_ms: 1000 }],
    [saying(429, '', { 'retry-after': '7' }), { type: 'retry', code: 'sidecar_status_429', retry_after_ms: 7000 }],
    [saying(429, '', { 'retry-after': '0' }), { type: 'retry', code: 'sidecar_status_429', retry_after_ms: 1 }],
    [
      saying(429, '', { 'retry-after': '99999' }),
      { type: 'retry', code: 'sidecar_status_429', retry_after_ms: 3_600_000 },
    ],
    [saying(429, '', { 'retry-after': 'soon' }), { type: 'retry', code: 'sidecar_status_429', retry_after_ms: 1000 }],
    [saying(200, 'x'.repeat(65_537)), { type: 'retry', code: 'outbound_answer_too_large', ...uncertain }],
    [cutting, { type: 'retry', code: 'outbound_connection_broken', ...uncertain }],
  ] as const
  for (const [answer, outcome] of rows) {
    sidecar.on('/deliver', answer)
    t.deepEqual(await deliver(), outcome as never, JSON.stringify(outcome))
  }
  t.is(sidecar.at('/elsewhere').length, 0, 'no redirect is followed')
  const inADay = new Date(clock.now() + 10_000).toUTCString()
  sidecar.on('/deliver', saying(429, '', { 'retry-after': inADay }))
  const dated = await deliver()
  t.true(dated.type === 'retry' && (dated.retry_after_ms ?? 0) > 5000 && (dated.retry_after_ms ?? 0) <= 10_000)
  sidecar.on('/deliver', undefined)

  // external-34: files need a sidecar that takes them and can get them.
  await put('bare', { shared_token: {}, allow_unauthenticated_ingress: true })
  const files = { artifacts: [file] }
  t.deepEqual(await deliver({ ...files, address: addressOf('bare') }), {
    type: 'terminal',
    code: 'attachments_need_shared_token',
  })
  t.deepEqual(await deliver({ address: addressOf('bare') }), { type: 'delivered' })
  sidecar.manifest = { ...sidecar.manifest, capabilities: { attachments_out: false } }
  await put('deaf')
  for (const more of [files, { parts: [{ type: 'attachment' as const, attachment: file }] }])
    t.deepEqual(await deliver({ ...more, address: addressOf('deaf') }), {
      type: 'terminal',
      code: 'sidecar_takes_no_attachments',
    })
  t.deepEqual(await deliver({ address: addressOf('deaf') }), { type: 'delivered' })

  // external-37, external-48: a place is a connector that is there, and a route of its sidecar.
  t.deepEqual(await deliver({ address: addressOf('nobody') }), { type: 'terminal', code: 'connector_missing' })
  t.deepEqual(await deliver({ address: 'x' }), { type: 'terminal', code: 'reply_route_invalid' })
  t.is(reply.target(addressOf('main', 'canary')), 'external:main:/deliver')
  await request('POST', '/v1/sessions', { session_id: 's1' })
  const submit = (connector: string) =>
    request('POST', '/v1/sessions/s1/runs', {
      content: 'x',
      reply_targets: [{ type: 'external', connector, route: 'canary' }],
    })
  t.like(await submit('nobody'), { status: 400, body: { code: 'reply_target_invalid' } })
  // external-38: what the ledger has of it.
  const known = sidecar.at('/deliver').length
  const { run_id } = (await submit('main')).body
  await sidecar.until(() => sidecar.at('/deliver').length > known, 'the answer')
  const ledger = (await request('GET', `/v1/runs/${run_id}/external-actions`)).body
  t.regex(JSON.stringify(ledger), /external:main:\/deliver/u)
  t.false(JSON.stringify(ledger).includes('canary'))

  // external-44: a remote sidecar is looked at each minute.
  sidecar.health = { ...sidecar.health, status: 'draining' }
  const looks = sidecar.at('/health').length
  clock.leap(60_000)
  await sidecar.until(() => sidecar.at('/health').length > looks, 'a look')
  await sidecar.until(() => sidecar.at('/health').length >= looks + 3, 'all looks')
  let health: any = {}
  for (let at = 0; at < 100 && health.state !== 'degraded'; at += 1) health = (await view('deaf')).health
  t.like(health, { state: 'degraded', cause: 'The sidecar says of itself that it is draining.' })
  t.is(typeof health.action, 'string')
  const told = JSON.stringify([daemon.log, await view(), await view('bare')])
  for (const canary of ['shared-canary', 'canary', sidecar.url.slice(7)])
    t.false(JSON.stringify(daemon.log).includes(canary))
  t.false(told.includes('shared-canary'))
})

test('external-37: it keeps what every reply plugin must keep', async (t) => {
  const { sidecar, reply, put } = await start(t)
  const silent = await startSidecar(t)
  silent.on('/deliver', hanging)
  await put('silent', { base_url: silent.url })
  const request = { type: 'external', connector: 'main', route: 'good-route' } as const
  await checkReply(t, {
    reply,
    requests: [[request, addressOf('main', 'good-route')]],
    good: ` {"route":"good-route", "connector":"main"}`,
    silent: addressOf('silent', 'silent-route'),
    refused: [
      'x',
      '{}',
      '[]',
      addressOf('nobody'),
      addressOf('main', ' '),
      '{"connector":"main"}',
      addressOf('main', ''),
    ],
    secrets: ['good-route', 'silent-route'],
    arrived: () => sidecar.at('/deliver').map(({ headers }) => String(headers['idempotency-key'])),
  })
})

test('external-4, external-32: no connection leads to a special address, whatever the name says', async (t) => {
  const sidecar = await startSidecar(t)
  const clock = createClock()
  const settings = { mode: 'remote_http', allow_private_network: false, base_url: '' }
  const of = (base_url: string, more: object = {}): ExternalConnector =>
    unsafeCast({
      name: 'main',
      settings: { ...settings, base_url, ...more },
      secret: () => undefined,
      has: () => false,
    })
  const asking = (resolve: () => Promise<{ address: string; family: number }[]>) => {
    const outbound = createOutbound({ clock, resolve })
    t.teardown(() => outbound.close())
    return createSidecarClient({ outbound, open: [] })
  }
  const literal = asking(() => Promise.reject(new Error('no name is asked for')))
  for (const host of specialAddresses) {
    const connector = of(`http://${host}:${sidecar.port}`)
    const refused = { type: 'failure', code: 'outbound_address_refused' } as const
    const known = (answer: { type: string }) => t.is(answer.type, 'failure', host)
    known(await literal.manifest(connector, never))
    known(await literal.health(connector, never))
    known(await literal.deliver(connector, { delivery_id: 'd', body: {}, signal: never }))
    const address = host.replace(/^\[(.*)\]$/u, '$1')
    if (!/^[\d.:a-f]+$/u.test(address)) continue
    const named = asking(async () => [
      { address: '1.1.1.1', family: 4 },
      { address, family: address.includes(':') ? 6 : 4 },
    ])
    t.deepEqual(await named.manifest(of(`http://sidecar.example:${sidecar.port}`), never), refused, host)
  }
  t.is(sidecar.asked.length, 0)
  const child = asking(async () => [{ address: '10.0.0.1', family: 4 }])
  t.deepEqual(await child.health(of(`http://side.localhost:${sidecar.port}`, { mode: 'child_process' }), never), {
    type: 'failure',
    code: 'outbound_address_refused',
  })
  const own = asking(async () => [{ address: '127.0.0.1', family: 4 }])
  t.is((await own.health(of(`http://side.localhost:${sidecar.port}`, { mode: 'child_process' }), never)).type, 'answer')
})
