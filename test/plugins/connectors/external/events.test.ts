/** Events of sidecars; docs/rules/external.md. */
import test from 'ava'
import { createHash } from 'node:crypto'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { eventOf, startExternal } from './sending.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const mebibyte = 1_048_576
const fileOf = (bytes: number, more: object = {}) => ({
  file_name: 'a.txt',
  media_type: 'text/plain',
  content_base64: Buffer.alloc(bytes, 'a').toString('base64'),
  ...more,
})

test('external-10, external-11, external-12, external-13, external-14, external-15, external-16, external-17, external-18, external-19, external-20, external-21, external-22, external-23, external-24, external-25, external-26, external-27, external-28: events are one run each, in their conversation', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await startExternal(t, { clock }, { ingress_events_per_second: 10_000 })
  const { send, sendAll, put, change, runOf, request, view } = daemon
  const statusOf = async (event: object) => (await send(event)).body.status
  const reasonOf = async (event: object): Promise<string> => {
    const { status, body } = await send(event)
    t.is(status, 200)
    t.is(body.status, 'rejected', JSON.stringify(body))
    t.is(body.run_id, undefined)
    return body.reason
  }

  // external-10: who may send.
  for (const headers of [{}, { authorization: 'Bearer other' }, { authorization: 'Basic x' }] as Record<
    string,
    string
  >[])
    for (const refused of [await send(eventOf(), 'main', headers), await sendAll([], {}, { headers })])
      t.like(refused, { status: 401, body: { code: 'unauthorized', domain: 'connector_ingress' } })
  t.like(await send(eventOf(), 'nobody'), { status: 404, body: { code: 'not_found', domain: 'connector_ingress' } })
  t.like(await sendAll([], {}, { name: 'nobody' }), { status: 404, body: { code: 'not_found' } })

  // external-12, external-22, external-23: the form, with nothing said and with everything.
  const plain = await send({ instance_id: 'i', event_id: 'discord-123', routing_key: ' inbox ', content: 'Hello' })
  t.like(plain.body, { event_id: 'discord-123', status: 'accepted' })
  t.deepEqual(Object.keys(plain.body).toSorted(), ['event_id', 'run_id', 'session_id', 'status'])
  const first = await runOf(plain.body.run_id)
  t.like(first.request, { source_plugin: 'external', source_kind: 'discord', actor_id: 'external-user' })
  const { external_event_fingerprint: said, ...metadata } = first.input_metadata
  t.deepEqual(metadata, {
    connector_ingress_key: 'external:main:d01927f07db83a3796cbab3709386389',
    external_protocol_version: 2,
    external_instance_id: 'i',
    external_event_id: 'discord-123',
    external_event_key_sha256: sha256('discord-123'),
    external_routing_key: 'inbox',
  })
  t.regex(said, /^[0-9a-f]{64}$/u)
  const nulls = {
    fingerprint: null,
    occurred_at_ms: null,
    actor_id: null,
    source_kind: null,
    intent: null,
    relation: null,
    thread: null,
    reply_route: null,
    metadata: null,
    input_items: null,
    attachments: null,
    protocol_version: null,
    added_one_day: { to: ['the', 'form'] },
  }
  const again = {
    instance_id: 'restarted',
    event_id: ' discord-123',
    routing_key: ' inbox ',
    content: 'Hello',
    ...nulls,
  }
  t.like((await send(again)).body, { ...plain.body, event_id: ' discord-123', status: 'duplicate' })
  t.like((await send({ ...again, protocol_version: 1 })).body, { status: 'duplicate', run_id: plain.body.run_id })
  const whole = await send(
    eventOf({
      fingerprint: 'r1',
      occurred_at_ms: 12,
      actor_id: 'ann',
      source_kind: 'direct',
      intent: 'ask',
      relation: { kind: 'reply', target_event_id: 'discord-123', more: 1 },
      routing_key: 'beside',
      metadata: { guild: 'g', external_intent: 'forged', connector_ingress_key: 'forged' },
      protocol_version: 1,
    }),
  )
  const told = await runOf(whole.body.run_id)
  t.like(told.request, { source_kind: 'direct', actor_id: 'ann' })
  t.like(told.input_metadata, {
    guild: 'g',
    occurred_at_ms: 12,
    external_protocol_version: 1,
    external_intent: 'ask',
    external_relation: { kind: 'reply', target_event_id: 'discord-123' },
    external_routing_key: 'beside',
  })
  t.regex(told.input_metadata.connector_ingress_key, /^external:main:[0-9a-f]{32}$/u)
  const snowflake = await send(
    '{"instance_id":"i","event_id":"snowflake","routing_key":"r","content":"x","metadata":{"id":12345678901234567890}}',
  )
  t.is((await runOf(snowflake.body.run_id)).input_metadata.id, '12345678901234567890')
  const wrapped = await send(eventOf({ metadata: ['a', 1] }))
  t.deepEqual((await runOf(wrapped.body.run_id)).input_metadata.source_metadata, ['a', 1])
  for (const lacking of [{ instance_id: undefined }, { event_id: undefined }, { thread: 'x' }, { content: 1 }])
    t.like(await send(eventOf(lacking)), { status: 400, body: { code: 'bad_request', domain: 'connector_ingress' } })
  t.regex((await send(eventOf({ content: 1 }))).body.detail, /content must be a string/u)

  // external-13: clients look for these words.
  for (const protocol_version of [0, 3, -1])
    t.regex(await reasonOf(eventOf({ protocol_version })), /unsupported protocol_version/u)
  const unsupported = await sendAll([eventOf({ protocol_version: 2 }), eventOf()], { protocol_version: 3 })
  t.deepEqual(
    unsupported.body.results.map(({ status, reason }: any) => [status, /unsupported protocol_version/u.test(reason)]),
    [
      ['rejected', true],
      ['rejected', true],
    ],
  )
  // external-14: each fault hides those behind it; whoever has another version has another form too.
  const strange = { event_id: 'strange', instance_id: undefined, content: { text: 'Hello' } }
  const unknown = await send(eventOf({ ...strange, protocol_version: 3 }))
  t.like(unknown, { status: 200, body: { event_id: 'strange', status: 'rejected' } })
  for (const { reason } of [
    unknown.body,
    ...(await sendAll([eventOf(strange)], { protocol_version: 3 })).body.results,
    ...(await sendAll([eventOf({ ...strange, protocol_version: 3 })], { protocol_version: undefined })).body.results,
  ])
    t.regex(reason, /unsupported protocol_version/u)
  const faults = [
    { protocol_version: 9 },
    { event_id: ' ' },
    { intent: ' ' },
    { thread: undefined },
    { content: '' },
  ] as const
  const words = ['protocol_version', 'event_id', 'intent', 'session', 'input']
  for (const [at, word] of words.entries())
    t.regex(await reasonOf(Object.assign(eventOf(), ...faults.slice(at))), new RegExp(word, 'u'))

  // external-15: limits are in bytes.
  await put('shut', { session_policy: null })
  for (const [fits, over] of [
    [{ content: 'é'.repeat(mebibyte / 2) }, { content: `${'é'.repeat(mebibyte / 2)}a` }],
    [{ event_id: `${'x'.repeat(1023)}y` }, { event_id: 'x'.repeat(1025) }],
    [{ actor_id: 'é'.repeat(200) }, { actor_id: 'é'.repeat(201) }],
    [{ routing_key: 'k'.repeat(4096) }, { routing_key: 'k'.repeat(4097) }],
    [{ thread: { path: Array(64).fill('p') } }, { thread: { path: Array(65).fill('p') } }],
    [{ thread: { path: ['p'.repeat(4096)] } }, { thread: { path: ['p'.repeat(4097)] } }],
    [
      { content: undefined, input_items: Array(64).fill({ type: 'text', text: 'x' }) },
      { content: undefined, input_items: Array(65).fill({ type: 'text', text: 'x' }) },
    ],
    [{ attachments: Array(10).fill(fileOf(1)) }, { attachments: Array(11).fill(fileOf(1)) }],
    [{ attachments: [fileOf(mebibyte)] }, { attachments: [fileOf(mebibyte + 1)] }],
  ] as const) {
    // What fits comes as far as its session, which is not there.
    t.is((await send(eventOf(fits), 'shut')).status, 409, JSON.stringify(fits).slice(0, 80))
    await reasonOf(eventOf(over))
  }
  for (const broken of [
    { intent: ' ' },
    { routing_key: '' },
    { relation: { kind: ' ' } },
    { relation: { target_event_id: '' } },
    { attachments: [fileOf(1, { content_base64: '!!!!' })] },
    { attachments: [fileOf(1, { file_name: ' ' })] },
    { content: undefined, input_items: [{ type: 'inline_asset', ...fileOf(1, { content_base64: 'a' }) }] },
    { metadata: { channel_id: 'forged' } },
  ])
    await reasonOf(eventOf(broken))
  const large = await send(eventOf({ metadata: 'm'.repeat(2 * mebibyte) }))
  t.like(large, { status: 413, body: { domain: 'connector_ingress' } })

  // external-16: one form of input.
  const items = [{ type: 'text', text: 'one' }]
  for (const mixed of [{ input_items: items }, { content: ' ', input_items: items, attachments: [fileOf(1)] }])
    t.regex(await reasonOf(eventOf(mixed)), /input_items/u)
  t.is(await statusOf(eventOf({ content: ' ', input_items: items })), 'accepted')
  const empty = await send(eventOf({ content: ' ' }))
  t.is(empty.body.status, 'rejected')
  t.regex(empty.body.session_id, /^external:main:[0-9a-f]{16}$/u)

  // external-18, external-19: conversations.
  await put('discord-main')
  const at = async (path: string[]) => (await send(eventOf({ thread: { path } }), 'discord-main')).body.session_id
  t.is(await at(['guild-1', 'channel-2', 'thread-3']), 'external:discord-main:31a92909d809154e')
  t.not(await at(['guild-1', 'channel-2', 'thread-4']), 'external:discord-main:31a92909d809154e')
  t.not(await at(['guild-1', 'channel-2']), 'external:discord-main:31a92909d809154e')
  t.is(await at(['guild-1', 'channel-2', 'thread-3']), 'external:discord-main:31a92909d809154e')
  await request('POST', '/v1/sessions', { session_id: 'team' })
  const keys = ['external:discord-main:ZGlzY29yZA:Z3VpbGQtOQ']
  await request('POST', '/v1/sessions/team/runs', { content: 'mine', binding_keys: keys })
  t.is(await at(['guild-9', 'any', 'deep']), 'team')
  t.regex(await reasonOf(eventOf({ thread: { path: [] } })), /session/u)

  // external-20, external-21, external-28: the same event is the same run, whatever is set up meanwhile.
  const once = eventOf({ event_id: 'once', fingerprint: 'a' })
  const five = await Promise.all(Array.from({ length: 5 }, () => send(once)))
  t.deepEqual(five.map(({ body }) => body.status).toSorted(), ['accepted', ...Array(4).fill('duplicate')])
  const [{ body: original }] = five.filter(({ body }) => body.status === 'accepted') as [any]
  await request('POST', '/v1/sessions', { session_id: 'elsewhere' })
  await change('main', { fixed_session_id: 'elsewhere' })
  t.deepEqual((await send(once)).body, { ...original, status: 'duplicate' })
  for (const other of [
    { content: 'else' },
    { fingerprint: 'b' },
    { reply_route: 'r' },
    { metadata: { a: 1 } },
    { content: '' },
  ]) {
    const { body } = await send({ ...once, ...other })
    t.like(body, { status: 'rejected', session_id: original.session_id, run_id: original.run_id })
    t.is(typeof body.reason, 'string')
  }
  t.is((await send(eventOf())).body.session_id, 'elsewhere', 'what is fixed comes first')
  const unrouted = eventOf({ event_id: 'unrouted', thread: undefined })
  const routed = (await send(unrouted)).body
  await change('main', { fixed_session_id: null })
  t.deepEqual((await send(unrouted)).body, { ...routed, status: 'duplicate' })

  // external-24: where answers go.
  await put('other')
  const extra = { type: 'external', connector: 'other', route: 'copy' }
  await change('main', { additional_reply_targets: [extra] })
  /** The routes at which the answer arrived. */
  const routesOf = async (more: object, many: number): Promise<string[]> => {
    const event = eventOf(more)
    const { status, run_id } = (await send(event)).body
    t.is(status, 'accepted')
    const arrived = () =>
      daemon.sidecar.at('/deliver').filter(({ body }) => body.content === `You said: ${event.content}`)
    await daemon.sidecar.until(() => arrived().length >= many, 'an answer')
    t.is((await request('GET', `/v1/deliveries?run_id=${run_id}`)).body.length, many)
    return arrived()
      .map(({ body }) => body.reply_route)
      .toSorted()
  }
  t.deepEqual(await routesOf({ reply_route: 'here' }, 2), ['copy', 'here'])
  t.deepEqual(await routesOf({ reply_route: ' ' }, 1), ['copy'])
  await change('main', { include_self_output: false })
  t.deepEqual(await routesOf({ reply_route: 'here' }, 1), ['copy'])
  await change('main', { include_self_output: null, additional_reply_targets: null })

  // external-26: what the operator has to see to is no matter of the event.
  const shut = { status: 409, body: { code: 'conflict', domain: 'connector_ingress', reason: 'session_missing' } }
  t.like(await send(eventOf(), 'shut'), shut)
  const shutItem = await sendAll([eventOf()], {}, { name: 'shut' })
  t.like(shutItem.body.results[0], { status: 'error' })

  // external-27: batches keep their order, and one event takes no other with it.
  const [one, two] = [eventOf(), eventOf()]
  const batch = await sendAll([
    one,
    { ...one, content: 'else' },
    { event_id: 'misshapen' },
    'x',
    two,
    one,
    eventOf({ event_id: ' ' }),
  ])
  t.deepEqual(
    batch.body.results.map(({ status }: any) => status),
    ['accepted', 'rejected', 'rejected', 'rejected', 'accepted', 'duplicate', 'rejected'],
  )
  t.is(batch.body.results[2].event_id, 'misshapen')
  t.is(batch.body.results[5].run_id, batch.body.results[0].run_id)
  t.deepEqual((await sendAll([])).body, {})
  const full = Array.from({ length: 64 }, () => eventOf({ content: '' }))
  t.is((await sendAll(full)).body.results.length, 64)
  t.like(await sendAll([...full, eventOf()]), {
    status: 400,
    body: { code: 'bad_request', domain: 'connector_ingress' },
  })
  t.like(await sendAll('x'), { status: 400, body: { domain: 'connector_ingress' } })

  // external-11, external-25: without a token nothing that is stored is named; rates are the connector's.
  await put('open', { shared_token: {}, allow_unauthenticated_ingress: true })
  t.is((await send(eventOf(), 'open', {})).body.status, 'accepted')
  for (const item of [
    { type: 'asset_reference', asset_id: 'asset_1' },
    { type: 'board_reference', board_id: 'board_1' },
  ]) {
    const { body } = await send(eventOf({ content: undefined, input_items: [item] }), 'open', {})
    t.like(body, { status: 'rejected' })
    t.regex(body.reason, /stored/u)
  }
  const [alpha, beta] = [eventOf(), eventOf()]
  await put('slow', { ingress_events_per_second: 2 })
  t.is((await send(alpha, 'slow')).body.status, 'accepted')
  const slow = await sendAll([beta, alpha, eventOf(), alpha], {}, { name: 'slow' })
  const [accepted, known, limited, alike] = slow.body.results
  t.is(accepted.status, 'accepted')
  t.is(known.status, 'duplicate', 'what is known is not counted')
  t.is(limited.status, 'rate_limited')
  t.is(limited.retry_after_ms, 500)
  t.is(alike.status, 'duplicate')
  const refused = await send(eventOf(), 'slow')
  t.like(refused, { status: 429, body: { code: 'external_ingress_rate_limited', domain: 'connector_ingress' } })
  t.is(refused.headers['retry-after'], '1')
  t.is(refused.body.retry_after_ms, 500)
  clock.leap(500)
  t.is((await send(eventOf(), 'slow')).body.status, 'accepted')

  // external-28: what is no answer of the protocol is a problem of its domain.
  const wrong = await request('PUT', '/v1/connectors/external/main/events', {}, {})
  t.like(wrong, { status: 405, body: { domain: 'connector_ingress' } })

  // external-43: all of it is counted, also what has no form at all.
  await put('shapeless')
  await sendAll(['no event', { event_id: 'x' }, eventOf({ content: '' })], {}, { name: 'shapeless' })
  const { text, type } = await metricsOf(daemon.url)
  t.is(type, 'text/plain; version=0.0.4; charset=utf-8')
  t.regex(text, /^service_external_connector_ingress_rate_limited_total\{connector="slow"\} 2$/mu)
  const house = await (await fetch(`${daemon.url}/metrics`)).text()
  t.regex(house, /^service_external_connector_ingress_rate_limited_total\{connector="slow"\} 2$/mu)
  t.regex(text, /^# TYPE service_external_connector_ingress_total counter$/mu)
  t.regex(text, /^service_external_connector_ingress_total\{connector="main",status="accepted"\} \d+$/mu)
  t.regex(text, /^service_external_connector_ingress_total\{connector="shapeless",status="rejected"\} 3$/mu)
  t.regex(text, /^service_external_connector_delivery_total\{connector="main",status="terminal"\} 0$/mu)
  t.false(text.includes('connector="nobody"'))
  t.false(JSON.stringify([await view(), daemon.log]).includes('shared-canary'))
})

const metricsOf = async (url: string) => {
  const answer = await fetch(`${url}/v1/runtime/connectors/external/metrics`)
  return { type: answer.headers.get('content-type'), text: await answer.text() }
}
