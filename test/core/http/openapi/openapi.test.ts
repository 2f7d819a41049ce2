import test from 'ava'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { Validator } from '@seriousme/openapi-schema-validator'
import { defineErrors } from '../../../../core/base/errors.js'
import { defineRoute, jsonReply, streamReply } from '../../../../core/http/routes/route.js'
import { listPage, arraySource, pageFields, pageOf, pageProblems } from '../../../../core/http/routes/pages.js'
import {
  array,
  defaulted,
  integer,
  lazy,
  named,
  object,
  optional,
  string,
  tagged,
  literal,
  type Struct,
} from '../../../../core/base/schema.js'
import { declarationsOf, shippedPlugins } from '../../../../core/shipped.js'
import { startServer } from '../../../support/http.js'
import { createOpenapiCheck } from '../../../support/validators.js'

interface Tree {
  name: string
  children: Tree[]
}
const tree: Struct<Tree, any> = lazy('Tree', () => object({ name: string(), children: array(tree) }))
const item = named(
  'ShelfItem',
  tagged('kind', {
    book: object({ kind: literal('book'), pages: integer() }),
    box: object({ kind: literal('box'), inside: tree }),
  }),
)
const errors = defineErrors({
  shelf_not_found: { status: 404, domain: 'shelves', detail: 'No shelf {shelf_id}.' },
  shelf_full: { status: 409, domain: 'shelves', detail: 'The shelf is full.' },
})
const shelves = [
  defineRoute({
    id: 'shelves.list',
    method: 'GET',
    path: '/v1/shelves',
    summary: 'Shelves.',
    access: 'read',
    problems: pageProblems,
    query: object({ ...pageFields, owner: optional(string()) }),
    reply: jsonReply(pageOf(item)),
    handler: ({ query }) =>
      listPage({
        query,
        source: arraySource([1, 2, 3], String),
        label: 'shelf_id_asc',
        view: (pages) => ({ kind: 'book' as const, pages }),
      }),
  }),
  defineRoute({
    id: 'shelves.put',
    method: 'POST',
    path: '/v1/shelves/:shelf_id/items',
    summary: 'Puts an item.',
    access: 'admin',
    durability: 'A',
    idempotent: true,
    params: object({ shelf_id: string() }),
    body: object({ item, count: defaulted(integer({ min: 1, max: 5 }), 1) }),
    bodyLimit: 2000,
    reply: jsonReply(named('Put', object({ count: integer(), key: optional(string()) })), 201),
    problems: [errors.shelf_full, errors.shelf_not_found],
    example: { body: { item: { kind: 'book', pages: 3 } }, reply: { count: 1 } },
    handler: ({ params, body, idempotencyKey }) => {
      if (params.shelf_id === 'none') throw errors.shelf_not_found({ details: { shelf_id: params.shelf_id } })
      return { count: body.count, ...(idempotencyKey !== undefined && { key: idempotencyKey }) }
    },
  }),
  defineRoute({
    id: 'shelves.stream',
    method: 'GET',
    path: '/v1/shelves/stream',
    summary: 'Events.',
    access: 'read',
    reply: streamReply(),
    handler: () => ({}),
  }),
  defineRoute({
    id: 'shelves.clear',
    method: 'DELETE',
    path: '/v1/shelves/:shelf_id',
    summary: 'Clears.',
    access: 'admin',
    params: object({ shelf_id: string() }),
    reply: jsonReply(object({ cleared: integer() })),
    handler: () => trustedWrong,
  }),
]
const trustedWrong: any = { cleared: 'many' }

test('http-1: the document is valid OpenAPI 3.1 by an independent validator', async (t) => {
  const server = await startServer(t, { routes: shelves })
  const { body } = await server.ask('GET', '/v1/openapi.json')
  const result = await new Validator().validate(body)
  t.true(result.valid, JSON.stringify(result.errors))
  t.is(body.openapi, '3.1.0')
})

test('http-5: each route shows its parameters, body, limits, problems, access and examples', async (t) => {
  const server = await startServer(t, { routes: shelves })
  const { body } = await server.ask('GET', '/v1/openapi.json')
  const put = body.paths['/v1/shelves/{shelf_id}/items'].post
  t.like(put, {
    operationId: 'shelves.put',
    'x-durability': 'A',
    'x-body-limit-bytes': 2000,
    'x-access': 'admin',
    security: [{ admin: [] }],
  })
  t.deepEqual(
    put.parameters.map(({ name }: { name: string }) => name),
    ['shelf_id', 'Idempotency-Key'],
  )
  t.deepEqual(put.requestBody.content['application/json'].example, { item: { kind: 'book', pages: 3 } })
  t.like(put.responses['404'].content['application/problem+json'].examples.shelf_not_found.value, {
    code: 'shelf_not_found',
    domain: 'shelves',
  })
  t.deepEqual(Object.keys(body.components.schemas).sort(), [
    'HeartbeatEvent',
    'Problem',
    'Put',
    'ShelfItem',
    'StreamGapEvent',
    'Tree',
  ])
  const list = body.paths['/v1/shelves'].get
  t.deepEqual(
    list.parameters.map(({ name }: { name: string }) => name),
    ['page', 'cursor', 'limit', 'owner'],
  )
  t.deepEqual(list.security, [{ admin: [] }, { read_only: [] }])
  t.truthy(body.paths['/v1/shelves/stream'].get.responses['200'].content['text/event-stream'])
  t.deepEqual(body.paths['/healthz'].get.security, [])
})

test('the check accepts what is described and names what is not', async (t) => {
  const server = await startServer(t, { routes: shelves })
  const check = createOpenapiCheck((await server.ask('GET', '/v1/openapi.json')).body)
  const look = async (method: string, path: string, body?: unknown): Promise<string | undefined> => {
    const reply = await server.ask(method, path, { body })
    return check.find({
      method,
      path,
      status: reply.status,
      contentType: reply.headers['content-type'],
      body: reply.body,
    })
  }
  t.is(await look('GET', '/v1/shelves?limit=1'), undefined)
  t.is(await look('GET', '/v1/shelves?page=true'), undefined)
  t.is(await look('GET', '/v1/shelves?limit=0'), undefined)
  t.is(await look('GET', '/healthz'), undefined)
  t.is(await look('GET', '/v1/nothing'), undefined)
  t.is(await look('PATCH', '/v1/shelves'), undefined)
  t.is(await look('POST', '/v1/shelves/a/items', { item: { kind: 'book', pages: 1 } }), undefined)
  t.is(
    await look('POST', '/v1/shelves/none/items', {
      item: { kind: 'box', inside: { name: 'x', children: [{ name: 'y', children: [] }] } },
    }),
    undefined,
  )
  t.is(await look('POST', '/v1/shelves/a/items', { item: { kind: 'book' } }), undefined)
  t.is(await look('POST', '/v1/shelves/a/items', `{"item":"${'x'.repeat(3000)}"}`), undefined)
  t.regex(String(await look('DELETE', '/v1/shelves/a')), /cleared must be integer/u)
  t.regex(
    String(
      check.find({
        method: 'GET',
        path: '/v1/shelves',
        status: 409,
        contentType: 'application/problem+json',
        body: {
          type: 'urn:service:problem:shelf_full',
          title: 'Conflict',
          status: 409,
          detail: '',
          code: 'shelf_full',
        },
      }),
    ),
    /409 is not described/u,
  )
})

test('the document follows routes that come and go, and one name cannot have two shapes', async (t) => {
  const server = await startServer(t, {
    routes: [
      defineRoute({
        id: 'a.b',
        method: 'GET',
        path: '/v1/a',
        summary: 'A.',
        access: 'read',
        reply: jsonReply(named('Thing', object({ a: string() }))),
        handler: () => ({ a: '' }),
      }),
      defineRoute({
        id: 'a.c',
        method: 'GET',
        path: '/v1/c',
        summary: 'C.',
        access: 'read',
        reply: jsonReply(named('Thing', object({ b: string() }))),
        handler: () => ({ b: '' }),
      }),
    ],
  })
  t.is((await server.ask('GET', '/v1/openapi.json')).status, 500)
  t.regex(String(server.faults[0]?.error), /Thing/u)
})

const described = (schema: any, schemas: any): boolean =>
  schema.description !== undefined ||
  (schema.$ref !== undefined && schemas[schema.$ref.split('/').at(-1)].description !== undefined)

/** Each property that the value shows, and whether a sentence tells of it. */
const propertiesIn = (value: any, schemas: any): boolean[] => {
  if (typeof value !== 'object' || value === null) return []
  const own = typeof value.properties === 'object' && value.const === undefined ? Object.values(value.properties) : []
  return [
    ...own.map((field) => described(field, schemas)),
    ...Object.values(value).flatMap((inner) => propertiesIn(inner, schemas)),
  ]
}

test('every shipped operation has its sentences, its tag and an example that fits; events have schemas', async (t) => {
  const { routes } = await declarationsOf(await shippedPlugins())
  const { body } = await (await startServer(t, { routes })).ask('GET', '/v1/openapi.json')
  const { schemas } = body.components
  const tags: string[] = body.tags.map(({ name }: { name: string }) => name)
  const operations: any[] = Object.values<any>(body.paths).flatMap((methods) => Object.values(methods))
  t.is(new Set(tags).size, tags.length)
  t.is(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  t.truthy(body.info.contact)
  const ajv = new Ajv2020({ strict: false, formats: { binary: true } })
  ajv.addSchema({ $id: 'https://document/', components: { schemas } })
  const address = (schema: object): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"https://document/#/components'))
  const names = Object.keys(schemas).filter((name) => name.endsWith('Event'))
  t.true(['RunUpdatedEvent', 'OutputEvent', 'TraceEvent', 'StreamGapEvent'].every((name) => names.includes(name)))
  for (const { operationId: id, summary, description, tags: own, responses } of operations) {
    for (const sentence of [summary, description]) t.regex(String(sentence), /\.$/u, id)
    t.true(own.length === 1 && tags.includes(own[0]), id)
    t.true(
      Object.keys(responses).some((status) => status.startsWith('4')),
      id,
    )
    const [content = {}]: any[] = Object.keys(responses)
      .filter((status) => status.startsWith('2'))
      .flatMap((status) => Object.values(responses[status].content))
    const example = content.example ?? content.examples?.shape.value
    const fits = ajv.compile(address(content.schema))
    t.true(fits(example), `${id}: ${JSON.stringify(example)} ${ajv.errorsText(fits.errors)}`)
    for (const { $ref } of Object.values<any>(content['x-events'] ?? {}))
      t.true(names.includes($ref.split('/').at(-1)), `${id}: ${$ref}`)
  }
  const shown = propertiesIn({ schemas, bodies: operations.map(({ requestBody }) => requestBody ?? {}) }, schemas)
  const share = shown.filter(Boolean).length / shown.length
  t.log(`${Math.round(share * 100)} % of ${shown.length} properties have a sentence`)
  t.true(share >= 0.4, String(share))
})

test('http-44: each way in that ships says whose token it takes', async (t) => {
  const { routes } = await declarationsOf(await shippedPlugins())
  const { body } = await (await startServer(t, { routes })).ask('GET', '/v1/openapi.json')
  const { paths, components } = body
  const ways = Object.values<any>(paths).flatMap((operations) =>
    Object.values<any>(operations).filter((operation) => operation['x-access'] === 'ingress'),
  )
  t.true(ways.length >= 2)
  const named = ways.flatMap(({ security }) => security.flatMap((one: object) => Object.keys(one)))
  t.is(named.length, ways.length, JSON.stringify(named))
  for (const name of named) t.regex(components.securitySchemes[name].description, /token|signature/u, name)
  t.false(named.includes('ingress'))
})

test('http-44: a route with a check of its own names its scheme, and none of them looks open', async (t) => {
  const route = (id: string) => ({
    id: `${id}.ring`,
    method: 'POST' as const,
    path: `/v1/${id}`,
    summary: 'Rings.',
    access: 'ingress' as const,
    ingress: () => ({ subject: undefined }),
    reply: jsonReply(object({})),
    handler: () => ({}),
  })
  const signed = { id: 'signed', header: 'X-Signature', description: 'Signed.' }
  const bearer = { id: 'bearing', header: 'Authorization', description: 'A token of ours.' }
  const routes = [
    defineRoute({ ...route('bells'), scheme: signed }),
    defineRoute({ ...route('gongs'), scheme: bearer }),
    defineRoute(route('horns')),
  ]
  const { body } = await (await startServer(t, { routes })).ask('GET', '/v1/openapi.json')
  t.deepEqual(
    ['bells', 'gongs', 'horns'].map((id) => body.paths[`/v1/${id}`].post.security),
    [[{ signed: [] }], [{ bearing: [] }], [{ ingress: [] }]],
  )
  const { signed: header, bearing, ingress } = body.components.securitySchemes
  t.deepEqual(header, { type: 'apiKey', in: 'header', name: 'X-Signature', description: 'Signed.' })
  t.deepEqual(bearing, { type: 'http', scheme: 'bearer', description: 'A token of ours.' })
  t.is(ingress.type, 'http')
})
