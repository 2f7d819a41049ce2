import test from 'ava'
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import { declarationsOf, shippedPlugins } from '../../../../core/shipped.js'
import { parse } from '../../../../core/base/parse.js'
import { startServer } from '../../../support/http.js'
import { compareRoutes } from '../../../support/schema-check.js'
import { volume } from '../../../support/volume.js'

test('the structs and JSON Schemas of every shipped route agree on generated values', async (t) => {
  const { routes } = await declarationsOf(await shippedPlugins())
  const seed = Number(process.env['HOLDFAST_SEED'] ?? fc.sample(fc.integer({ min: 0 }), 1)[0])
  t.log(`seed ${seed}, ${routes.length} routes`)
  t.true(routes.length > 10)
  t.deepEqual(compareRoutes(routes, { seed, runs: volume(10, 60) }), [])
})

test('the document of all shipped routes is valid OpenAPI, and its examples fit their structs', async (t) => {
  const { routes } = await declarationsOf(await shippedPlugins())
  const server = await startServer(t, { routes })
  const { body, status } = await server.ask('GET', '/v1/openapi.json')
  t.is(status, 200)
  const result = await new Validator().validate(body)
  t.true(result.valid, JSON.stringify(result.errors))
  for (const { id, example, body: struct, reply } of routes) {
    if (example?.body !== undefined && struct !== undefined)
      t.deepEqual(parse(struct, example.body).ok, true, `${id}: the example body`)
    if (example?.reply !== undefined && reply.kind === 'json')
      t.deepEqual(parse(reply.body, example.reply).ok, true, `${id}: the example reply`)
  }
})

test('http-25: no shipped route that changes something is open to a read-only token', async (t) => {
  const { routes } = await declarationsOf(await shippedPlugins())
  // Sixty refusals a minute are throttled, and there are more routes than that.
  const servers = await Promise.all(
    Array.from({ length: Math.ceil(routes.length / 30) }, () =>
      startServer(t, { routes, auth: { admin: { token: 'admin' }, readOnly: { token: 'read' } } }),
    ),
  )
  for (const [at, { method, path, access }] of routes.entries()) {
    const server = servers[at % servers.length] ?? t.fail()
    const target = path.replaceAll(/:[a-z_]+/gu, 'x')
    if (access === 'public' || access === 'ingress') continue
    const bare = await server.ask(method === 'GET' ? 'HEAD' : method, target)
    t.is(bare.status, 401, `${method} ${path}`)
    if (method === 'GET' && access !== 'admin') continue
    t.is(
      (await server.ask(method, target, { headers: { authorization: 'Bearer read' } })).status,
      403,
      `${method} ${path}`,
    )
  }
})
