import test from 'ava'
import { createServer } from 'node:http'
import { enums, integer, object, optional, string, boolean, defaulted } from '../../../../core/base/schema.js'
import { defineRoute, jsonReply } from '../../../../core/http/routes/route.js'
import { bind } from '../../../../core/http/server/bind.js'
import { startServer } from '../../../support/http.js'

const echo = defineRoute({
  id: 'echo.make',
  method: 'POST',
  path: '/v1/echo/:name',
  summary: 'Echoes.',
  access: 'admin',
  params: object({ name: string({ max: 64 }) }),
  query: object({
    loud: optional(boolean()),
    times: optional(integer({ min: 1 })),
    tone: optional(enums(['low', 'high'])),
  }),
  body: object({ text: string(), more: defaulted(object({ deep: optional(integer()) }), {}) }),
  reply: jsonReply(object({ name: string(), text: string() }), 201),
  handler: ({ params, body, query }) => ({ name: params.name, text: body.text.repeat(query.times ?? 1) }),
})

test('a route gets parsed input and its value becomes the answer', async (t) => {
  const server = await startServer(t, { routes: [echo] })
  const reply = await server.ask('POST', '/v1/echo/ann?times=2&loud=true&tone=low', { body: { text: 'ab' } })
  t.is(reply.status, 201)
  t.is(reply.headers['content-type'], 'application/json')
  t.deepEqual(reply.body, { name: 'ann', text: 'abab' })
})

test('http-7: every wrong field is named with its path and rule', async (t) => {
  const server = await startServer(t, { routes: [echo] })
  const cases: [string, unknown, string][] = [
    ['/v1/echo/ann', {}, 'body.text'],
    ['/v1/echo/ann', { text: 1 }, 'body.text'],
    ['/v1/echo/ann', { text: 'a', more: { deep: 'x' } }, 'body.more.deep'],
    ['/v1/echo/ann', { text: 'a', other: 1 }, 'body.other'],
    ['/v1/echo/ann?times=x', { text: 'a' }, 'query.times'],
    ['/v1/echo/ann?times=0', { text: 'a' }, 'query.times'],
    ['/v1/echo/ann?loud=yes', { text: 'a' }, 'query.loud'],
    ['/v1/echo/ann?tone=mid', { text: 'a' }, 'query.tone'],
    ['/v1/echo/ann?nope=1', { text: 'a' }, 'query.nope'],
    ['/v1/echo/ann?times=1&times=1', { text: 'a' }, 'query.times'],
    ['/v1/echo/%2e%2e', { text: 'a' }, 'path.name'],
    ['/v1/echo/a%2fb', { text: 'a' }, 'path.name'],
    ['/v1/echo/%00', { text: 'a' }, 'path.name'],
    ['/v1/echo/%zz', { text: 'a' }, 'path.name'],
    ['/v1/echo/ann', undefined, 'body'],
    ['/v1/echo/ann', [], 'body'],
    ['/v1/echo/ann', '{"text":"a","text":"b"}', 'body.text'],
    ['/v1/echo/ann', '{"text":"a","more":{"deep":1e400}}', 'body.more.deep'],
    ['/v1/echo/ann', '{"text":"a","more":{"deep":9007199254740993}}', 'body.more.deep'],
    ['/v1/echo/ann', `{"text":${'['.repeat(70)}`, `body.text${'.0'.repeat(63)}`],
    ['/v1/echo/ann', '{"text":"\\ud800"}', 'body.text'],
    ['/v1/echo/ann', '{"text":', 'body'],
  ]
  for (const [path, body, field] of cases) {
    const reply = await server.ask('POST', path, { body })
    t.is(reply.status, 400, `${path} ${JSON.stringify(body)}: ${reply.text}`)
    t.is(reply.headers['content-type'], 'application/problem+json')
    t.is(reply.body.code, 'bad_request')
    t.is(reply.body.errors[0].path, field.slice(0, 200))
  }
})

test('runtime-12: unknown paths, wrong methods and probes get their own answers', async (t) => {
  const server = await startServer(t, { routes: [echo] })
  const missing = await server.ask('GET', '/v1/nothing')
  t.like(missing.body, {
    type: 'urn:service:problem:route_not_found',
    title: 'Not Found',
    status: 404,
    code: 'route_not_found',
    domain: 'api',
  })
  const wrong = await server.ask('GET', '/v1/echo/ann')
  t.is(wrong.status, 405)
  t.is(wrong.headers['allow'], 'OPTIONS, POST')
  t.is((await server.ask('GET', '/healthz')).text, 'ok')
  t.is((await server.ask('GET', '/readyz')).text, 'ready')
  t.is((await server.ask('HEAD', '/healthz')).text, '')
})

test('a connection that the system does not hand over is told, and ends nothing', async (t) => {
  const told: unknown[] = []
  const server = createServer()
  await bind(server, { host: '127.0.0.1', port: 0 }, (lost) => told.push(lost))
  t.teardown(() => server.close())
  const error = Object.assign(new TypeError('accept EMFILE'), { code: 'EMFILE' })
  t.true(server.emit('error', error))
  t.deepEqual(told, [error])
})
