import { EventEmitter } from 'node:events'
import test, { type ExecutionContext } from 'ava'
import { createClock, type Clock } from '../../../../core/base/clock.js'
import { defineEvent } from '../../../../core/events/contract.js'
import { createBus } from '../../../../core/events/bus.js'
import { defineRoute, streamReply, textReply } from '../../../../core/http/routes/route.js'
import { createStreams } from '../../../../core/http/server/stream.js'
import { open, unsafeCast } from '../../../../core/base/schema.js'
import { startServer, streamRoute, type TestServer, type TestServerOptions } from '../../../support/http.js'
import { openStream, type Frame, type SseClient } from '../../../support/sse.js'

const changed = defineEvent({ name: 'run_updated', summary: 'A run changed.', data: open({}) })
const start = (t: ExecutionContext<any>, more: TestServerOptions = {}): Promise<TestServer> =>
  startServer(t, { routes: [streamRoute], ...more })
const follow = async (
  t: ExecutionContext<any>,
  server: TestServer,
  more: { query?: string; headers?: Record<string, string> } = {},
): Promise<SseClient> => {
  const client = openStream({
    port: server.port,
    path: `/v1/events/stream${more.query ?? ''}`,
    headers: more.headers ?? {},
  })
  t.teardown(client.close)
  const clock = createClock()
  for (let tries = 0; client.head() === '' && tries < 400; tries += 1) await clock.sleep(5)
  return client
}
const publish = ({ bus }: TestServer, count: number, session = 's1', pad = ''): void => {
  for (let n = 1; n <= count; n += 1) bus.publish(changed, { session }, () => ({ n, pad }))
}
const floor = 1000n << 32n
const id = (counter: number): string => (floor + BigInt(counter)).toString()
const numbers = (frames: readonly Frame[]): number[] =>
  frames.filter(({ event }) => event === 'run_updated').map(({ data }) => data.n)

test('events-3: a stream answers at once, with headers that no proxy buffers or rewrites', async (t) => {
  const server = await start(t)
  const client = await follow(t, server)
  t.regex(client.head(), /^HTTP\/1\.1 200 OK/u)
  t.regex(client.head(), /content-type: text\/event-stream/iu)
  t.regex(client.head(), /cache-control: no-store, no-transform/iu)
  t.regex(client.head(), /x-accel-buffering: no/iu)
  t.notRegex(client.head(), /transfer-encoding|content-length/iu)
})

test('events-4: data is the bare event with its type and a rising decimal id', async (t) => {
  const server = await start(t)
  const client = await follow(t, server)
  publish(server, 3)
  t.true(await client.until(3))
  t.deepEqual(client.frames[0], { event: 'run_updated', id: id(1), data: { type: 'run_updated', n: 1, pad: '' } })
  t.deepEqual(
    client.frames.map((frame) => frame.id),
    [id(1), id(2), id(3)],
  )
})

test('events-9: without a cursor only what comes is sent; with one what followed it; with 0 the whole window', async (t) => {
  const server = await start(t)
  publish(server, 5)
  const live = await follow(t, server)
  const resumed = await follow(t, server, { query: `?cursor=${id(3)}` })
  const whole = await follow(t, server, { query: '?cursor=0' })
  publish(server, 1)
  t.true((await Promise.all([live.until(1), resumed.until(3), whole.until(6)])).every(Boolean))
  t.deepEqual(numbers(live.frames), [1])
  t.deepEqual(numbers(resumed.frames), [4, 5, 1])
  t.deepEqual(numbers(whole.frames), [1, 2, 3, 4, 5, 1])
})

test('events-7: of header and query the larger cursor counts, blank ones do not, and one ahead is clamped', async (t) => {
  const server = await start(t)
  publish(server, 5)
  const cases: [string, Record<string, string>, number[]][] = [
    [`?cursor=${id(2)}`, { 'last-event-id': id(4) }, [5]],
    [`?cursor=${id(4)}`, { 'last-event-id': id(2) }, [5]],
    ['?cursor=', { 'last-event-id': id(4) }, [5]],
    [`?cursor=${id(4)}`, { 'last-event-id': ' ' }, [5]],
    [`?cursor=${id(900)}`, {}, []],
    ['?cursor=', {}, []],
  ]
  for (const [query, headers, expected] of cases) {
    const client = await follow(t, server, { query, headers })
    await client.until(expected.length)
    t.deepEqual(numbers(client.frames), expected, query)
  }
})

test('a first frame stands before all others, and nothing that happened since it was made is missed', async (t) => {
  const look = defineRoute({
    id: 'look.stream',
    method: 'GET',
    path: '/v1/look',
    summary: 'All events behind a look at the state.',
    access: 'read',
    reply: streamReply(),
    handler: () => {
      publish(server, 1)
      return { first: { name: 'look', data: { seen: 0 } } }
    },
  })
  const server = await start(t, { routes: [look] })
  const frames = async (query: string): Promise<readonly Frame[]> => {
    const client = openStream({ port: server.port, path: `/v1/look${query}` })
    t.teardown(client.close)
    await client.until(2)
    return client.frames
  }
  publish(server, 2)
  t.deepEqual(
    (await frames('')).map((frame) => [frame.event, frame.id, frame.data.type]),
    [
      ['look', id(2), 'look'],
      ['run_updated', id(3), 'run_updated'],
    ],
  )
  const [first, second] = await frames(`?cursor=${id(1)}`)
  t.deepEqual([first?.event, first?.id, second?.id], ['look', undefined, id(2)])
})

test('events-8: a malformed cursor is refused', async (t) => {
  const server = await start(t)
  for (const cursor of ['abc', '-1', '1.5', '0x10', '99999999999999999999', '1e3']) {
    const reply = await server.ask('GET', `/v1/events/stream?cursor=${cursor}`)
    t.like(reply.body, { status: 400, code: 'invalid_event_cursor', domain: 'events' }, cursor)
    t.is(reply.body.errors[0].path, 'query.cursor')
    const header = await server.ask('GET', '/v1/events/stream', { headers: { 'last-event-id': cursor } })
    t.deepEqual([header.status, header.body.errors[0].path], [400, 'header.last-event-id'])
  }
})

test('a cursor of an earlier life is told of the restart, then gets the window', async (t) => {
  const server = await start(t)
  publish(server, 2)
  const client = await follow(t, server, { query: `?cursor=${(999n << 32n) + 7n}` })
  t.true(await client.until(3))
  t.deepEqual(client.frames[0], {
    event: 'stream_gap',
    id: id(0),
    data: {
      type: 'stream_gap',
      skipped: 1,
      resume_after_id: id(0),
      reason: 'restart_epoch',
      scope: 'global',
      skipped_is_estimate: true,
    },
  })
  t.deepEqual(numbers(client.frames), [1, 2])
  const again = await follow(t, server, { query: `?cursor=${client.frames[0]?.id}` })
  t.true(await again.until(2))
  t.deepEqual(numbers(again.frames), [1, 2])
})

test('a cursor that the window has left behind gets an exact gap first', async (t) => {
  const server = await start(t, { capacity: 10 })
  publish(server, 30)
  const client = await follow(t, server, { query: `?cursor=${id(5)}` })
  t.true(await client.until(11))
  t.deepEqual(client.frames[0], {
    event: 'stream_gap',
    id: id(20),
    data: {
      type: 'stream_gap',
      skipped: 15,
      resume_after_id: id(20),
      reason: 'replay_window',
      scope: 'global',
      skipped_is_estimate: false,
    },
  })
  t.deepEqual(numbers(client.frames), [21, 22, 23, 24, 25, 26, 27, 28, 29, 30])
})

test('a filtered stream reports only losses of its own scope, exactly while they are remembered', async (t) => {
  const server = await start(t, { capacity: 10 })
  publish(server, 4, 'mine')
  publish(server, 20, 'other')
  const lost = await follow(t, server, { query: `?session_id=mine&cursor=${id(1)}` })
  t.true(await lost.until(1))
  t.like(lost.frames[0]?.data, {
    skipped: 3,
    skipped_is_estimate: false,
    scope: 'session',
    reason: 'replay_window',
    resume_after_id: id(14),
  })
  const spared = await follow(t, server, { query: `?session_id=mine&cursor=${id(4)}` })
  publish(server, 1, 'mine')
  t.true(await spared.until(1))
  t.deepEqual(
    spared.frames.map(({ event }) => event),
    ['run_updated'],
  )
  publish(server, 80, 'other')
  const forgotten = await follow(t, server, { query: `?session_id=mine&cursor=${id(4)}` })
  t.true(await forgotten.until(1))
  t.like(forgotten.frames[0]?.data, { skipped_is_estimate: true, scope: 'session', reason: 'replay_window' })
})

test('a filtered stream sees only its own events', async (t) => {
  const server = await start(t)
  const client = await follow(t, server, { query: '?session_id=b' })
  publish(server, 2, 'a')
  publish(server, 1, 'b')
  publish(server, 2, 'a')
  publish(server, 2, 'b')
  t.true(await client.until(3))
  t.deepEqual(
    client.frames.map((frame) => frame.id),
    [id(3), id(6), id(7)],
  )
})

test('events-18: a slow reader gets a gap for what it missed, and others are not delayed', async (t) => {
  const server = await start(t, { capacity: 200 })
  const slow = await follow(t, server)
  const quick = await follow(t, server)
  slow.pause()
  const pad = 'x'.repeat(4000)
  const clock = createClock()
  for (let round = 0; round < 60; round += 1) {
    publish(server, 100, 's1', pad)
    t.true(await quick.until(100 * (round + 1)))
  }
  t.is(quick.frames.filter(({ event }) => event === 'stream_gap').length, 0)
  slow.resume()
  const whole = async (): Promise<boolean> => {
    for (let tries = 0; tries < 3000; tries += 1) {
      if (slow.frames.at(-1)?.id === id(6000)) return true
      await clock.sleep(10)
    }
    return false
  }
  t.true(await whole())
  const gaps = slow.frames.filter(({ event }) => event === 'stream_gap')
  t.true(gaps.length >= 1)
  t.is(gaps[0]?.data.reason, 'live_lag')
  const skipped = gaps.reduce((sum, { data }) => sum + data.skipped, 0)
  t.is(skipped + numbers(slow.frames).length, 6000)
  t.is(server.bus.statistics().stream_lagged_event_count, skipped)
  const ids = slow.frames.map((frame) => BigInt(frame.id ?? '0'))
  t.true(ids.every((value, index) => index === 0 || value > (ids[index - 1] ?? 0n)))
})

test('events-10: a reader that comes back with its last id misses nothing and gets nothing twice', async (t) => {
  const server = await start(t)
  const seen: number[] = []
  let cursor = '0'
  const clock = createClock()
  let stop = false
  const load = (async () => {
    for (let n = 1; n <= 500; n += 1) {
      server.bus.publish(changed, {}, () => ({ n }))
      if (n % 5 === 0) await clock.sleep(1)
    }
    stop = true
  })()
  while (!stop || seen.length < 500) {
    const client = await follow(t, server, { query: `?cursor=${cursor}` })
    await client.until(20, 300)
    client.close()
    const frames = client.frames.filter(({ event }) => event === 'run_updated')
    seen.push(...numbers(frames))
    cursor = frames.at(-1)?.id ?? cursor
    if (seen.length > 500) break
  }
  await load
  t.deepEqual(
    seen,
    Array.from({ length: 500 }, (_, index) => index + 1),
  )
})

test('events-6: heartbeats are typed, carry no id, and stop with the last reader', async (t) => {
  const real = createClock()
  const timers = new Set<() => void>()
  const clock: Clock = {
    ...real,
    after: (_ms, callback) => {
      timers.add(callback)
      return () => void timers.delete(callback)
    },
  }
  const server = await start(t, { server: { clock } })
  const client = await follow(t, server)
  t.is(timers.size, 1)
  for (const fire of Array.from(timers)) {
    timers.delete(fire)
    fire()
  }
  for (let tries = 0; client.frames.length === 0 && tries < 2000; tries += 1) await real.sleep(5)
  t.deepEqual(client.frames, [{ event: 'heartbeat', id: undefined, data: { type: 'heartbeat' } }])
  client.close()
  for (let tries = 0; timers.size > 0 && tries < 2000; tries += 1) await real.sleep(5)
  t.is(timers.size, 0)
  t.is(server.bus.statistics().subscriber_count, 0)
})

test('events-22: a drain ends streams cleanly and lets requests finish; after the close nobody listens', async (t) => {
  const clock = createClock()
  let began = (): void => {}
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  const slow = defineRoute({
    id: 'slow.get',
    method: 'GET',
    path: '/v1/slow',
    summary: 'Slow.',
    access: 'read',
    reply: textReply(),
    handler: async () => {
      began()
      await clock.sleep(100)
      return 'done'
    },
  })
  const server = await start(t, { routes: [streamRoute, slow] })
  const client = await follow(t, server)
  const pending = server.ask('GET', '/v1/slow')
  await begun
  publish(server, 1)
  await client.until(1)
  await server.server.drain(2000)
  await client.ended
  t.is((await pending).text, 'done')
  t.is(client.frames.length, 1)
  await server.server.close()
  await t.throwsAsync(server.ask('GET', '/healthz'))
})

test('a drain is not disturbed by a reader that takes nothing, nor by what is published meanwhile', async (t) => {
  const real = createClock()
  const timers = new Set<() => void>()
  const clock: Clock = {
    ...real,
    after: (ms, callback) => {
      if (ms < 10_000) return real.after(ms, callback)
      timers.add(callback)
      return () => void timers.delete(callback)
    },
  }
  const server = await start(t, { server: { clock } })
  const client = await follow(t, server)
  client.pause()
  const pad = 'x'.repeat(100_000)
  for (let round = 0; round < 60; round += 1) {
    publish(server, 1, 's1', pad)
    await real.sleep(1)
  }
  const drained = server.server.drain(300)
  t.is(timers.size, 0)
  publish(server, 3)
  await real.sleep(20)
  await drained
  t.is(server.bus.statistics().subscriber_count, 0)
})

test('a drain tells handlers that wait, and their answers still arrive', async (t) => {
  let began = (): void => {}
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  const waiting = defineRoute({
    id: 'waiting.get',
    method: 'GET',
    path: '/v1/waiting',
    summary: 'Waits.',
    access: 'read',
    reply: textReply(),
    handler: ({ signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => resolve('as it stands'), { once: true })
        began()
      }),
  })
  const server = await start(t, { routes: [waiting] })
  const pending = server.ask('GET', '/v1/waiting')
  await begun
  await server.server.drain(60_000)
  t.is((await pending).text, 'as it stands')
})

test('a drain cuts what does not end in time', async (t) => {
  let began = (): void => {}
  const begun = new Promise<void>((resolve) => {
    began = resolve
  })
  const hung = defineRoute({
    id: 'hung.get',
    method: 'GET',
    path: '/v1/hung',
    summary: 'Hangs.',
    access: 'read',
    reply: textReply(),
    handler: () => {
      began()
      return new Promise<string>(() => {})
    },
  })
  const server = await start(t, { routes: [hung] })
  const pending = t.throwsAsync(server.ask('GET', '/v1/hung'))
  await begun
  await server.server.drain(100)
  await pending
})

test('HEAD on a stream answers the headers and ends', async (t) => {
  const server = await start(t)
  const reply = await server.ask('HEAD', '/v1/events/stream')
  t.is(reply.status, 200)
  t.is(reply.headers['content-type'], 'text/event-stream')
  t.is(server.bus.statistics().subscriber_count, 0)
})

test('a reader that has not taken everything gets no heartbeats on top', (t) => {
  const timers: (() => void)[] = []
  const clock: Clock = {
    ...createClock(),
    after: (_ms, callback) => {
      timers.push(callback)
      return () => {}
    },
  }
  const streams = createStreams({
    bus: createBus({ clock, epoch: 1, capacity: 10, onFault: () => {} }),
    clock,
    unsent: { bytes: 0, watch: () => {} },
    review: () => () => true,
  })
  const written: string[] = []
  const response: any = {
    writableLength: 0,
    removeHeader() {},
    writeHead() {},
    on() {},
    once() {},
    write: (bytes: Buffer) => written.push(String(bytes)),
  }
  streams.open({
    request: unsafeCast({ method: 'GET', socket: new EventEmitter() }),
    response,
    access: 'read',
    cursor: undefined,
    before: '0',
    headers: {},
  })
  const beat = (): number => {
    timers.shift()?.()
    return written.filter((frame) => frame.startsWith('event: heartbeat')).length
  }
  t.is(beat(), 1)
  response.writableLength = 300_000
  t.is(beat(), 1)
  response.writableLength = 0
  t.is(beat(), 2)
})
