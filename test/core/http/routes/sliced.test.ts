import test from 'ava'
import { connect } from 'node:net'
import { createClock } from '../../../../core/base/clock.js'
import { arraySource, latest, listPage, pageFields, pageOf } from '../../../../core/http/routes/pages.js'
import { defineRoute, jsonReply, type Route } from '../../../../core/http/routes/route.js'
import { jsonPieces } from '../../../../core/http/routes/sliced.js'
import { json, object, string } from '../../../../core/base/schema.js'
import { startServer } from '../../../support/http.js'

/** Counts what is done in one turn of the event loop. */
const createTurns = () => {
  const turns = { now: 0, most: 0, total: 0, stop: false }
  const tick = (): void => {
    turns.most = Math.max(turns.most, turns.now)
    turns.now = 0
    if (!turns.stop) setImmediate(tick)
  }
  tick()
  return {
    turns,
    count: (): void => {
      turns.now += 1
      turns.total += 1
    },
  }
}

const keys = Array.from({ length: 20_000 }, (_, n) => `k${String(n).padStart(6, '0')}`)
const listRoute = (count: () => void): Route =>
  defineRoute({
    id: 'things.list',
    method: 'GET',
    path: '/v1/things',
    summary: 'Lists.',
    access: 'read',
    query: object(pageFields),
    reply: jsonReply(pageOf(object({ id: string() }))),
    handler: ({ query }) =>
      listPage({
        query,
        source: arraySource(keys, (key) => key),
        label: 'id_asc',
        view: (id) => {
          count()
          return { id }
        },
      }),
  })

test('a plain list of any length is made in slices, also when many ask for it at once', async (t) => {
  const { turns, count } = createTurns()
  const server = await startServer(t, { routes: [listRoute(count)] })
  const replies = await Promise.all([1, 2, 3].map(() => server.ask('GET', '/v1/things')))
  turns.stop = true
  for (const { body, headers, text } of replies) {
    t.deepEqual(
      body.map(({ id }: { id: string }) => id),
      keys,
    )
    t.is(headers['content-length'], String(Buffer.byteLength(text)))
  }
  t.is(turns.total, 60_000)
  t.true(turns.most <= 3 * 32, `${turns.most} items in one turn`)
})

test('others are answered while a long list is made', async (t) => {
  const { turns, count } = createTurns()
  const server = await startServer(t, { routes: [listRoute(count)] })
  const list = server.ask('GET', '/v1/things')
  const clock = createClock()
  while (turns.total === 0) await clock.sleep(0)
  t.is((await server.ask('GET', '/healthz')).status, 200)
  t.true(turns.total < 20_000, 'the list was not made in one piece')
  t.is((await list).body.length, 20_000)
  turns.stop = true
})

test('nobody makes the rest of a list for a client that has gone', async (t) => {
  const { turns, count } = createTurns()
  const server = await startServer(t, { routes: [listRoute(count)] })
  const socket = connect(server.port, '127.0.0.1')
  socket.write(`GET /v1/things HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)
  const clock = createClock()
  while (turns.total === 0) await clock.sleep(0)
  socket.resetAndDestroy()
  while ((await server.server.connections()) > 0) await clock.sleep(0)
  await server.ask('GET', '/v1/things?page=true&limit=1')
  const made = turns.total
  t.true(made < 20_000)
  await server.ask('GET', '/v1/things?page=true&limit=1')
  t.is(turns.total, made + 1)
  turns.stop = true
})

test('large items of a list and of a page become text one slice after the other', async (t) => {
  const { turns, count } = createTurns()
  const large = { toJSON: () => (count(), 'x'.repeat(70_000)) }
  const built = (id: string, value: () => unknown): Route =>
    defineRoute({
      id,
      method: 'GET',
      path: `/v1/${id}`,
      summary: 'Built.',
      access: 'read',
      reply: jsonReply(json()),
      handler: () => value() as never,
    })
  const items = Array.from({ length: 40 }, () => large)
  const page = { items, pagination: { limit: 40, total_count: 40, has_more: false, order: 'none' } }
  const server = await startServer(t, { routes: [built('array', () => items), built('page', () => page)] })
  for (const path of ['/v1/array', '/v1/page']) {
    const { body } = await server.ask('GET', path)
    const got = Array.isArray(body) ? body : body.items
    t.deepEqual(
      got.map((text: string) => text.length),
      items.map(() => 70_000),
    )
    if (!Array.isArray(body)) t.deepEqual(body.pagination, page.pagination)
  }
  turns.stop = true
  t.true(turns.most <= 2, `${turns.most} items in one turn`)
})

test('a long answer that is no list becomes text one slice after the other', async (t) => {
  const { turns, count } = createTurns()
  const large = { toJSON: () => (count(), 'x'.repeat(70_000)) }
  const route = defineRoute({
    id: 'things.view',
    method: 'GET',
    path: '/v1/view',
    summary: 'Built.',
    access: 'read',
    reply: jsonReply(json()),
    handler: () =>
      ({
        name: 'é'.repeat(300_000),
        inside: { outputs: Array.from({ length: 40 }, () => [large, 'x'.repeat(70_000)]) },
      }) as never,
  })
  const server = await startServer(t, { routes: [route] })
  const { body } = await server.ask('GET', '/v1/view')
  turns.stop = true
  t.is(body.name.length, 300_000)
  t.deepEqual(
    body.inside.outputs.map(([text]: string[]) => text?.length),
    Array.from({ length: 40 }, () => 70_000),
  )
  t.true(turns.most <= 2, `${turns.most} items in one turn`)
})

test('the pieces of a value are its JSON, wherever they are cut', (t) => {
  const long = '\ud83d\ude00"\n\ud800é'.repeat(30_000)
  const values = [
    long,
    `x${long}`,
    [long, undefined, null, { a: undefined, b: [long, 1], c: { d: `y${long}`, e: [] } }],
    { a: undefined, b: long, 'k"': {} },
  ]
  for (const value of values) {
    const pieces = [...jsonPieces(value)]
    t.true(pieces.length > 1 && pieces.every(({ length }) => length < 500_000))
    t.true(pieces.join('') === JSON.stringify(value))
  }
  for (const value of [{ a: 1, b: undefined }, [], '', 0, null])
    t.is([...jsonPieces(value)].join(''), JSON.stringify(value))
})

test('a list that fails in its middle is a problem, and the next list is made', async (t) => {
  let broken = true
  const failing = listRoute(() => {
    if (broken) throw new TypeError('broken')
  })
  const server = await startServer(t, { routes: [failing] })
  t.is((await server.ask('GET', '/v1/things')).status, 500)
  broken = false
  t.is((await server.ask('GET', '/v1/things')).body.length, 20_000)
})

test('the latest of a list stand in ascending order', async (t) => {
  const route = defineRoute({
    id: 'things.latest',
    method: 'GET',
    path: '/v1/latest',
    summary: 'Lists.',
    access: 'read',
    reply: jsonReply(json()),
    handler: () => latest({ source: arraySource(keys, (key) => key), view: (id) => id }, 70) as never,
  })
  const server = await startServer(t, { routes: [route] })
  t.deepEqual((await server.ask('GET', '/v1/latest')).body, keys.slice(-70))
})
