import { createHmac, timingSafeEqual } from 'node:crypto'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { defineErrors } from '../../../../core/base/errors.js'
import { bytes } from '../../../../core/http/routes/bytes.js'
import { json, object, string, type Json } from '../../../../core/base/schema.js'
import { defineRoute, jsonReply, type IngressHead } from '../../../../core/http/routes/route.js'
import { httpErrors } from '../../../../core/http/errors.js'
import { startServer } from '../../../support/http.js'

const errors = defineErrors({
  webhook_unknown: { status: 404, detail: 'There is no webhook of this name.' },
  key_missing: { status: 404, detail: 'There is no secret k.' },
  webhook_signature_wrong: { status: 401, detail: 'The signature does not fit.' },
})

const signatureOf = (target: string, body: string | Uint8Array): string =>
  createHmac('sha256', 'key').update(`POST:${target}:`).update(body).digest('hex')

/** A platform's webhook: its name is known before its body is read, its signature is of the bytes. */
const setUp = async (t: ExecutionContext) => {
  const heads: IngressHead<{ readonly name: string }>[] = []
  const handled: unknown[] = []
  const ingress = (head: IngressHead<{ readonly name: string }>) => {
    heads.push(head)
    if (head.params.name === 'lacking') throw errors.key_missing()
    if (head.params.name !== 'known') throw errors.webhook_unknown()
    const [given = '', ...more] = head.header('X-Signature')
    if (given === '' || more.length > 0) throw errors.webhook_signature_wrong()
    const verify = (body: Uint8Array): void => {
      const wanted = Buffer.from(signatureOf(head.target, body))
      if (given.length !== wanted.length || !timingSafeEqual(wanted, Buffer.from(given)))
        throw errors.webhook_signature_wrong()
    }
    return { subject: { webhook: head.params.name }, verify }
  }
  const shared = {
    method: 'POST',
    summary: 'Takes what a platform sends.',
    access: 'ingress',
    params: object({ name: string() }),
    problems: [errors.webhook_unknown, errors.webhook_signature_wrong],
    ingress,
  } as const
  const event = defineRoute({
    ...shared,
    id: 'webhooks.event',
    path: '/v1/webhooks/:name',
    bodyForm: 'lenient',
    body: json(),
    reply: jsonReply(object({ webhook: string(), body: json() })),
    handler: ({ caller, body }) => {
      handled.push(body)
      return { webhook: caller.subject.webhook, body }
    },
  })
  const form = defineRoute({
    ...shared,
    id: 'webhooks.form',
    path: '/v1/webhooks/:name/form',
    bodyForm: 'bytes',
    body: bytes(),
    bodyOptional: true,
    reply: jsonReply(object({ command: string() })),
    handler: ({ body }) => ({ command: new URLSearchParams(Buffer.from(body).toString()).get('command') ?? 'none' }),
  })
  const server = await startServer(t, { routes: [event, form], auth: { admin: { token: 'admin-token' } } })
  const send = async (
    target: string,
    body: string,
    { signature = signatureOf(target, body), type = 'text/plain' } = {},
  ): Promise<{ readonly status: number; readonly body: any }> => {
    const response = await fetch(`${server.url}${target}`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, 'x-signature': signature },
    })
    return { status: response.status, body: await response.json() }
  }
  return { ...server, heads, handled, send }
}

test('http-40: a check of a route sees the head as it came, and then the bytes of the body', async (t) => {
  const { send, heads, handled } = await setUp(t)
  const target = '/v1/webhooks/known/form?x=%41&x=2'
  t.is((await send(target, 'command=%2Fdeploy&x=1')).status, 400, 'the query is read strictly behind the check')
  t.is(heads[0]?.target, target)
  t.is(heads[0]?.method, 'POST')
  t.is(heads[0]?.remote_addr, '127.0.0.1')
  t.deepEqual(heads[0]?.params, { name: 'known' })
  t.deepEqual(await send('/v1/webhooks/known/form', 'command=%2Fdeploy&x=1'), {
    status: 200,
    body: { command: '/deploy' },
  })
  const refused = await send('/v1/webhooks/known', '{"a":1}', {
    signature: signatureOf('/v1/webhooks/known', '{"a":2}'),
  })
  t.is(refused.status, 401)
  t.is(refused.body.code, 'webhook_signature_wrong')
  t.deepEqual(handled, [])
  t.deepEqual(await send('/v1/webhooks/known', '{"a":1}'), { status: 200, body: { webhook: 'known', body: { a: 1 } } })
  t.is((await send('/v1/webhooks/known/form', '')).status, 200, 'the check sees that there is no body')
  t.is((await send('/v1/webhooks/known/form', '', { signature: 'x' })).status, 401)
})

test('http-40: a problem that the route does not declare is not told to strangers, and is counted', async (t) => {
  const { send, audit } = await setUp(t)
  const { status, body } = await send('/v1/webhooks/lacking', '{}')
  t.deepEqual([status, body.code], [503, httpErrors.ingress_not_ready.code])
  t.notRegex(JSON.stringify(body), /secret|key_missing/u)
  t.like(audit.at(-1), { event: 'auth_failure', reason: 'key_missing' })
})

test('http-40: who is not let in need not send a body', async (t) => {
  const { port } = await setUp(t)
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket
      .on('error', () => {})
      .on('data', (chunk) => {
        text += String(chunk)
        if (text.includes('webhook_unknown')) socket.destroy()
      })
    socket.on('close', () => resolve(text))
    socket.write(
      `POST /v1/webhooks/other HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 900000\r\nX-Signature: x\r\n\r\n{`,
    )
  })
  t.regex(answer, /^HTTP\/1\.1 404/u)
})

test('http-40: a header that came twice is seen twice', async (t) => {
  const { raw, port, heads } = await setUp(t)
  await raw(
    `POST /v1/webhooks/known HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n` +
      'X-Signature: one\r\nx-signature: two\r\nConnection: close\r\n\r\n{}',
  )
  t.deepEqual(heads[0]?.header('x-Signature'), ['one', 'two'])
  t.deepEqual(heads[0]?.header('x-absent'), [])
})

test('http-28: refusals by the check of a route are counted, and one that is let in is not held up', async (t) => {
  const { send, audit } = await setUp(t)
  const statuses = new Set<number>()
  for (let n = 0; n < 61; n += 1) statuses.add((await send('/v1/webhooks/known', '{}', { signature: 'bad' })).status)
  t.deepEqual([...statuses], [401, 429])
  t.is(audit.filter(({ event }) => event === 'auth_failure').length, 60)
  t.deepEqual(audit.at(-1) && { event: audit.at(-1)?.event, reason: audit.at(-1)?.reason, path: audit.at(-1)?.path }, {
    event: 'auth_rate_limited',
    reason: 'webhook_signature_wrong',
    path: '/v1/webhooks/known',
  })
  t.is((await send('/v1/webhooks/known', '{}')).status, 200)
  t.is((await send('/v1/webhooks/other', '{}')).status, 404, 'what is not there is no refusal')
})

test('http-41: the JSON of a platform is read whatever its type, within bounds', async (t) => {
  const { send } = await setUp(t)
  const bodyOf = async (text: string): Promise<Json> => (await send('/v1/webhooks/known', text)).body.body
  t.deepEqual(
    await bodyOf('{"id":12345678901234567890,"at":1234567890123456,"f":1.5e300,"t":"12345678901234567890"}'),
    {
      id: '12345678901234567890',
      at: 1234567890123456,
      f: 1.5e300,
      t: '12345678901234567890',
    },
  )
  t.deepEqual(await bodyOf('{"a":1,"a":2}'), { a: 2 })
  t.deepEqual(await bodyOf(String.raw`{"a\"12345678901234567890":"\\\"9007199254740993"}`), {
    'a"12345678901234567890': String.raw`\"9007199254740993`,
  })
  const long = `{"id":-90071992547409930,"text":"${'x'.repeat(300_000)}"}`
  t.is(((await bodyOf(long)) as { id: string }).id, '-90071992547409930', 'beside the event loop too')
  for (const wrong of ['{', '', '[1,]', '['.repeat(65) + ']'.repeat(65), `[${'1,'.repeat(100_001)}1]`, '{"a":\u0000}'])
    t.is((await send('/v1/webhooks/known', wrong)).status, 400, wrong.slice(0, 20))
  t.is((await send('/v1/webhooks/known', 'x'.repeat(1_048_577))).status, 413)
})

test('a route has a check of its own exactly if its access says so', async (t) => {
  const route = { id: 'a.b', method: 'GET', path: '/v1/a', summary: 'A.', reply: jsonReply(object({})) } as const
  const handler = () => ({})
  const admitted = () => ({ subject: undefined })
  for (const wrong of [
    defineRoute({ ...route, access: 'ingress', handler }),
    defineRoute({ ...route, access: 'read', ingress: admitted, handler }),
  ])
    await t.throwsAsync(startServer(t, { routes: [wrong] }), { message: /check of its own/u })
})
