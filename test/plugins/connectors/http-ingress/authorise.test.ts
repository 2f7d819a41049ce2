/** Who may post; docs/rules/webhooks.md. */
import test from 'ava'
import { request } from 'node:http'
import { httpKind } from '../../../../plugins/connectors/http-ingress/kind.js'
import { signatureOf } from '../../../../plugins/connectors/http-ingress/authorise.js'
import { bearer, open, pathOf, signed, startHttp, toldIn } from './posting.js'

const secret = 'hmac-test-secret'
const unauthorized = [401, 'unauthorized']

test('webhooks-2: the published vector', (t) => {
  const signature = signatureOf(secret, {
    target: '/v1/connectors/http/orders?source=a%2Fb&attempt=1',
    timestamp: '1710000000',
    body: Buffer.from('{"content":"hello","idempotency_key":"order-123","metadata":{"k":"v"}}'),
  })
  t.is(signature.toString('hex'), 'f13a4b8c5099a2ffc6b8a913e0998d6765d61a693c27f594ca34ede2e0d4e557')
})

test('webhooks-1, webhooks-2, webhooks-3, webhooks-4: a token, a signature, both or neither, and one answer to whatever is wrong', async (t) => {
  const daemon = await startHttp(t)
  const { put, post, clock } = daemon
  await put('token', open)
  const event = { content: 'hello', idempotency_key: 'a' }
  t.deepEqual(toldIn(await post('nobody', event)), [404, 'not_found'])
  const shapes = new Set<string>()
  const refuse = async (name: string, headers: Record<string, string>, body: unknown = event) => {
    const answer = await post(name, body, headers)
    t.deepEqual(toldIn(answer), unauthorized, JSON.stringify(headers))
    shapes.add(JSON.stringify(answer.body))
  }
  for (const authorization of ['', 'Bearer', 'Bearer wrong-token', 'Bearer secret-token2', 'Basic secret-token'])
    await refuse('token', authorization === '' ? {} : { authorization })
  await refuse('token', { authorization: 'Bearer wrong' }, '{ no JSON')
  t.is((await post('token', event)).status, 200)
  t.is((await post('token', event, { authorization: 'bearer secret-token', 'content-type': 'text/odd' })).status, 200)

  const hmac = { hmac_secret: { value: secret }, require_hmac_signature: true }
  await put('both', { ...open, ...hmac })
  const { bearer_token: _, ...tokenless } = open
  await put('signs', { ...tokenless, ...hmac, signature_max_age_secs: 10 })
  await put('ignores', { ...open, hmac_secret: { value: secret } })
  t.is((await post('ignores', event)).status, 200, 'a secret that is not asked for')

  const target = `${pathOf('signs')}?source=a%2Fb&attempt=1`
  const body = JSON.stringify(event)
  const now = String(Math.floor(clock.now() / 1000))
  const right = signed(secret, { target, timestamp: now, body })
  const signature = right['x-service-signature'] ?? ''
  t.is((await post(target, body, right)).status, 200)
  t.is(
    (await post(target, body, { ...right, 'x-service-signature': `v1=${signature.slice(3).toUpperCase()}` })).status,
    200,
  )
  await refuse(target, right, body.replace('hello', 'hellp'))
  await refuse(target, right, `${body} `)
  await refuse(target.replace('%2F', '/'), right, body)
  await refuse(target.replace('attempt=1', 'attempt=2'), right, body)
  await refuse(pathOf('signs'), right, body)
  await refuse(target, { ...right, 'x-service-timestamp': String(Number(now) + 1) }, body)
  await refuse(target, signed('other', { target, timestamp: now, body }), body)
  for (const odd of [
    '',
    signature.slice(3),
    signature.slice(0, -1),
    `${signature}0`,
    `v2=${signature.slice(3)}`,
    `${signature}, ${signature}`,
  ])
    await refuse(target, { ...right, 'x-service-signature': odd }, body)
  for (const off of [11, -11])
    await refuse(target, signed(secret, { target, timestamp: String(Number(now) + off), body }), body)
  for (const off of [10, -10])
    t.is((await post(target, body, signed(secret, { target, timestamp: String(Number(now) + off), body }))).status, 200)
  for (const timestamp of ['', '-1', '1e9', `${now}.0`, ` ${now} x`, '9'.repeat(21)])
    await refuse(target, signed(secret, { target, timestamp, body }), body)
  await refuse('both', bearer, body)
  const both = signed(secret, { target: pathOf('both'), timestamp: now, body })
  await refuse('both', both, body)
  t.is((await post('both', body, { ...bearer, ...both })).status, 200)

  const twice = (name: string, values: readonly string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const sent = request(
        `${daemon.url}${target}`,
        { method: 'POST', headers: { ...right, [name]: [...values] } },
        (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  t.is(await twice('x-service-timestamp', [now, now]), 401)
  t.is(await twice('x-service-signature', [signature, signature]), 401)
  t.is(shapes.size, 1, 'one answer to all')
})

test('webhooks-1, webhooks-3: settings by which nobody or too many could be let in are refused', (t) => {
  const parsed = httpKind.settings.create({ session_policy: undefined })
  const fault = (settings: object, ...has: string[]) =>
    httpKind.fault({ name: 'x', settings: { ...parsed, ...settings }, has: (one) => has.includes(one) })?.path
  t.is(fault({}), 'bearer_token')
  t.is(fault({}, 'hmac_secret'), 'bearer_token', 'a secret that is not asked for lets nobody in')
  t.is(fault({}, 'bearer_token'), undefined)
  t.is(fault({ allow_unauthenticated_ingress: true }), undefined)
  t.is(fault({ require_hmac_signature: true }), 'hmac_secret')
  t.is(fault({ require_hmac_signature: true }, 'hmac_secret'), undefined)
  t.is(
    fault({ require_hmac_signature: true, require_idempotency_key: false }, 'hmac_secret'),
    'require_idempotency_key',
  )
  t.is(fault({ default_binding_keys: [' '] }, 'bearer_token'), 'default_binding_keys')
  t.like(parsed, {
    require_hmac_signature: false,
    signature_max_age_secs: 300,
    require_idempotency_key: true,
    ingress_events_per_second: 60,
    allow_payload_reply_targets: false,
  })
  for (const odd of [{ ingress_events_per_second: 0 }, { signature_max_age_secs: 0 }, { signature_max_age_secs: 3601 }])
    t.throws(() => httpKind.settings.create(odd))
})
