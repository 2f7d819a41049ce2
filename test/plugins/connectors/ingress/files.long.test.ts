/** Files of platforms; docs/rules/ingress.md. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/base/schema.js'
import { createFaultyDisk } from '../../../../core/testing/faulty-disk.js'
import { createLeapingClock, type LeapingClock } from '../../../../core/testing/leaping-clock.js'
import { kindsPlugin, shippedWithoutKinds } from '../../../support/connector-kinds.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createPause } from '../../../support/pause.js'
import type { FetchedFile } from '../../../../plugins/connectors/registry/contract.js'
import { connectorOf, createCaught, eventOf, filesOf, toldBy } from './sending.js'

const textFile = (file_name: string, text: string): FetchedFile => ({
  type: 'file',
  file: { file_name, media_type: 'text/plain', bytes: Buffer.from(text) },
})

const when = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (const pause = createPause(); !(await holds());) await pause()
}

/**
 * The same for what a fetch of a file leads to: one that a busy machine kept waiting has timed out, and its repetition
 * is due by leaps alone.
 */
const whenFetched = (clock: LeapingClock, holds: () => boolean | Promise<boolean>): Promise<void> =>
  when(async () => {
    if (await holds()) return true
    clock.leap(100)
    return false
  })

/** A daemon that knows the connectors `shop`, `slow` and `quick`, with a crash that begins its next life. */
const startWith = async (
  t: ExecutionContext,
  platform: ReturnType<typeof createPlatform>,
  { still = true, config = {} }: { readonly still?: boolean; readonly config?: Record<string, JsonObject> } = {},
) => {
  const [root, clock, faulty] = [await freshRoot(), createLeapingClock({ still }), createFaultyDisk()]
  const shipped = await shippedWithoutKinds()
  const caught = createCaught()
  const plugins = [kindsPlugin(), platform.plugin, caught.plugin]
  const begin = () => startTestDaemon(t, { root, clock, disk: faulty.disk, shipped, plugins, config })
  let life = await begin()
  const request: typeof life.request = (...asked) => life.request(...asked)
  for (const name of ['shop', 'slow', 'quick'])
    await request('PUT', `/v1/runtime/connectors/external/${name}`, { platform: 'test' })
  const crash = async (): Promise<void> => {
    faulty.cut()
    await life.stop()
    faulty.heal()
    life = await begin()
  }
  return { clock, request, crash, caught }
}

/** Answers of a platform by the name of the file; what has none waits until the test gives one. */
const createPlatform = () => {
  const answers = new Map<string, FetchedFile>()
  const waiting = new Map<string, (() => void)[]>()
  const asked: string[] = []
  let [active, most] = [0, 0]
  const plugin = filesOf(async (name, { id }: JsonObject, signal) => {
    const file = String(id)
    asked.push(`${name} ${file}`)
    active += 1
    most = Math.max(most, active)
    if (!answers.has(file))
      await new Promise<void>((resolve) => {
        waiting.set(file, [...(waiting.get(file) ?? []), resolve])
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    active -= 1
    return answers.get(file) ?? { type: 'retry', cause: 'it was cut off' }
  })
  const give = (file: string, answer: FetchedFile): void => {
    answers.set(file, answer)
    waiting.get(file)?.forEach((resolve) => resolve())
  }
  return { plugin, give, asked, most: () => most }
}

test('ingress-11, ingress-12, ingress-14, ingress-15: an event with files is on disk at once, and its run begins when they are there', async (t) => {
  const platform = createPlatform()
  const daemon = await startWith(t, platform)
  const { caught } = daemon
  const { give } = platform
  const shop = connectorOf()
  const event = eventOf('look', { key: 'e:1', files: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
  const first = await Promise.all([caught.ingress.receive(shop, event), caught.ingress.receive(shop, event)])
  t.deepEqual(first, [
    { type: 'pending', session_id: 'shop-1' },
    { type: 'pending', session_id: 'shop-1' },
  ])
  const moved = connectorOf({ fixed_session_id: 'elsewhere' })
  t.deepEqual(await caught.ingress.receive(moved, event), { type: 'pending', session_id: 'shop-1' })
  t.deepEqual(await toldBy(caught.ingress.receive(shop, { ...event, fingerprint: 'other' })), [
    409,
    'conflict',
    { reason: 'other_payload', session_id: 'shop-1' },
  ])
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
  const busy = await daemon.request('PUT', '/v1/sessions/shop-1/isolation', { isolation: 'shared' })
  t.is(busy.body.code, 'session_not_idle', 'it holds its session')

  await daemon.crash()
  give('a', textFile('../a\n.txt', 'of a'))
  give('b', { type: 'refused', cause: 'its server answers 404' })
  give('c', { type: 'retry', cause: 'its server fails', retry_after_ms: 7200_000 })
  await when(() => platform.asked.includes('shop c'))
  daemon.clock.leap(1_800_000)
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [], 'it is waited for')
  daemon.clock.leap(1_800_001)
  const runsNow = async () => (await daemon.request('GET', '/v1/runs')).body
  await when(async () => (await runsNow()).length === 1)
  const [run] = await runsNow()
  t.is(platform.asked.filter((one) => one === 'shop b').length < 3, true, 'what is settled is not asked for again')
  t.deepEqual(
    run.input_attachments.map((file: { file_name: string }) => file.file_name),
    ['_a_.txt'],
  )
  const again = await caught.ingress.receive(moved, event)
  t.like(again, { type: 'duplicate', session_id: 'shop-1' })
  const journal = await daemon.request('GET', `/v1/runs/${run.run_id}/events`)
  const said = journal.body[0].event.content ?? JSON.stringify(journal.body[0])
  t.true(said.includes('look') && said.includes('A file of this message is not here: its server answers 404.'), said)
  t.true(said.includes('its server fails'))

  t.deepEqual(
    await toldBy(caught.ingress.receive(shop, eventOf('x', { files: Array.from({ length: 9 }, () => ({ id: 'a' })) }))),
    [400, 'bad_request', { reason: 'too_many_files' }],
  )
  give('huge', {
    type: 'file',
    file: { file_name: 'h', media_type: 'text/plain', bytes: Buffer.alloc(12 * 1024 * 1024 + 1) },
  })
  const bare = { ...eventOf('', { key: 'e:2', files: [{ id: 'huge' }] }), natural_session_id: 'bare' }
  await caught.ingress.receive(shop, bare)
  await when(async () => (await runsNow()).length === 2)
  await when(async () => (await runsNow()).every((one: { status: string }) => one.status === 'completed'))
})

test('ingress-13: a connector whose files do not come holds up no other', async (t) => {
  const platform = createPlatform()
  const daemon = await startWith(t, platform)
  const { caught } = daemon
  const slow = connectorOf({}, { name: 'slow' })
  for (let at = 0; at < 20; at += 1)
    await caught.ingress.receive(slow, eventOf('x', { files: [{ id: 'never' }], natural_session_id: 'slow' }))
  platform.give('quick', textFile('q.txt', 'quick'))
  const quick = connectorOf({}, { name: 'quick' })
  await caught.ingress.receive(quick, eventOf('x', { files: [{ id: 'quick' }], natural_session_id: 'quick' }))
  await whenFetched(daemon.clock, async () => {
    const { body } = await daemon.request('GET', '/v1/runs')
    return body.some(({ session_id }: { session_id: string }) => session_id === 'quick')
  })
  t.is(platform.most(), 5, 'four of one connector at a time, and the other one')
  platform.give('never', textFile('n.txt', 'at last'))
  await whenFetched(daemon.clock, async () => (await daemon.request('GET', '/v1/runs')).body.length === 21)
})

test('ingress-14: a clock that is set back puts off no file for longer than it would have been', async (t) => {
  const platform = createPlatform()
  const { caught, clock } = await startWith(t, platform)
  platform.give('a', { type: 'retry', cause: 'not yet' })
  const event = eventOf('look', { key: 'e:back', files: [{ id: 'a' }] })
  t.is((await caught.ingress.receive(connectorOf(), event)).type, 'pending')
  await when(() => platform.asked.length === 1)
  platform.give('a', textFile('a.txt', 'here'))
  clock.jump(-365 * 86_400_000)
  const pause = createPause()
  for (let leaps = 0; leaps < 200 && platform.asked.length < 2; leaps += 1) {
    clock.leap(1000)
    await pause()
  }
  t.is(platform.asked.length, 2)
  const answer = () => caught.ingress.receive(connectorOf(), event)
  await when(async () => (await answer()).type === 'duplicate')
})

test('ingress-18: what comes behind a message with files waits for it, a minute at most, and then goes on in order', async (t) => {
  const platform = createPlatform()
  const daemon = await startWith(t, platform)
  const { ingress } = daemon.caught
  const shop = connectorOf()
  const send = (content: string, more = {}) => ingress.receive(shop, eventOf(content, more))
  const contents = async (): Promise<string[]> =>
    (await daemon.request('GET', '/v1/runs')).body.map(({ outputs }: any) => outputs?.[0]?.content)

  t.like(await send('look', { files: [{ id: 'photo' }] }), { type: 'pending' })
  t.like(await send('what is it?', { key: 'e:2' }), { type: 'pending' })
  t.like(await send('well?'), { type: 'pending' })
  t.like(await ingress.receive(shop, { ...eventOf('elsewhere'), natural_session_id: 'other' }), { type: 'accepted' })
  await when(() => platform.asked.length === 1)
  platform.give('photo', textFile('p.txt', 'a photo'))
  await whenFetched(daemon.clock, async () => (await contents()).length === 4)
  await when(async () => (await contents()).every((content) => content !== undefined))
  const said = await contents()
  t.deepEqual(
    said.slice(1).map((content) => /look|what is it|well/u.exec(content)?.[0]),
    ['look', 'what is it', 'well'],
  )
  t.like(await send('what is it?', { key: 'e:2' }), { type: 'duplicate' })

  t.like(await send('and this', { files: [{ id: 'never' }] }), { type: 'pending' })
  t.like(await send('hello?'), { type: 'pending' })
  daemon.clock.leap(60_001)
  await when(async () => (await contents()).length === 5)
  t.like(await send('still there?'), { type: 'accepted' }, 'it is held up no more')
})

test('ingress-20: where the queue of a session is full a patient message waits on disk, and the others are told', async (t) => {
  const config = { runs: { max_queued_runs: 1 } }
  const daemon = await startWith(t, createPlatform(), { config })
  const { ingress } = daemon.caught
  const shop = connectorOf()
  const send = (content: string, more = {}) => ingress.receive(shop, eventOf(content, { patient: true, ...more }))
  const told = async (): Promise<string[]> => (await daemon.request('GET', '/v1/runs')).body
  t.like(await send('/ask Which? | A | B'), { type: 'accepted' })
  await when(async () => (await daemon.request('GET', '/v1/runs')).body[0].status === 'waiting_for_user_question')
  t.like(await send('in the queue'), { type: 'accepted' })
  t.deepEqual((await toldBy(ingress.receive(shop, eventOf('told'))))[0], 429)
  t.like(await send('first', { key: 'e:1' }), { type: 'pending' })
  t.like(await send('second'), { type: 'pending' })
  t.like(await send('first', { key: 'e:1' }), { type: 'pending' })
  await daemon.crash()
  daemon.clock.leap(120_000)
  t.is((await told()).length, 2)
  t.like(await daemon.caught.ingress.receive(shop, eventOf('third', { patient: true })), { type: 'pending' })
  const [{ session_id, run_id }] = (await daemon.request('GET', '/v1/runs')).body
  t.is(session_id, 'shop-1')
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  await when(async () => {
    daemon.clock.leap(5001)
    return (await told()).length === 5
  })
  await when(async () =>
    (await daemon.request('GET', '/v1/runs')).body.slice(1).every(({ status }: any) => status === 'completed'),
  )
  const said = (await daemon.request('GET', '/v1/runs')).body.slice(1).map(({ outputs }: any) => outputs[0].content)
  t.deepEqual(said, ['You said: in the queue', 'You said: first', 'You said: second', 'You said: third'])
  t.like(await daemon.caught.ingress.receive(shop, eventOf('first', { key: 'e:1', patient: true })), {
    type: 'duplicate',
  })
})

test('ingress-15: beyond so many bytes of a connector that wait none is taken, with files or without', async (t) => {
  const platform = createPlatform()
  const { caught } = await startWith(t, platform)
  const { ingress } = caught
  const large = 'x'.repeat(17_000_000)
  const send = (at: number, name = 'shop') => {
    const event = eventOf(`${at} ${large}`, { key: `${name}:${at}`, files: [{ id: 'a' }] })
    return ingress.receive(connectorOf({}, { name }), { ...event, natural_session_id: `s${at}` })
  }
  for (let at = 0; at < 2; at += 1) t.is((await send(at)).type, 'pending')
  t.deepEqual((await toldBy(send(2))).slice(0, 2), [429, 'rate_limited'])
  t.is((await send(1)).type, 'pending', 'what is known is answered as before')
  const behind = await toldBy(ingress.receive(connectorOf(), { ...eventOf('hi'), natural_session_id: 's0' }))
  t.deepEqual(behind.slice(0, 2), [429, 'rate_limited'])
  t.is((await send(0, 'quick')).type, 'pending', 'another connector has its own')
  platform.give('a', textFile('a.txt', 'here'))
  await when(async () => (await toldBy(send(2)))[0] === 'taken')
})

test('ingress-18: one picture of very many is waited for, however many before it are waited for no more', async (t) => {
  const platform = createPlatform()
  const { caught, clock } = await startWith(t, platform)
  const shop = connectorOf({ ingress_events_per_second: 1000 })
  const send = (content: string, more = {}) => caught.ingress.receive(shop, eventOf(content, more))
  for (let at = 0; at < 120; at += 1) await send(`old ${at}`, { files: [{ id: 'never' }] })
  clock.leap(60_001)
  t.is((await send('they hold up none')).type, 'accepted')
  await send('look', { files: [{ id: 'never' }] })
  t.is((await send('what is it?')).type, 'pending')
})

test('ingress-18: what waited for room waits for a picture before it no longer than a minute', async (t) => {
  const platform = createPlatform()
  const { caught, clock, request } = await startWith(t, platform, { config: { runs: { max_queued_runs: 1 } } })
  const send = (content: string, more = {}) => caught.ingress.receive(connectorOf(), eventOf(content, more))
  const runs = async () => (await request('GET', '/v1/runs')).body
  await send('/ask Which? | A | B')
  await when(async () => (await runs())[0].status === 'waiting_for_user_question')
  await send('in the queue')
  t.is((await send('full', { patient: true })).type, 'pending')
  t.is((await send('look', { files: [{ id: 'never' }] })).type, 'pending')
  t.is((await send('behind both')).type, 'pending')
  await request('POST', `/v1/runs/${(await runs())[0].run_id}/cancel`)
  await when(async () => {
    clock.leap(1000)
    return (await runs()).length === 3
  })
  clock.leap(60_001)
  await when(async () => (await runs()).length === 4)
  t.like((await runs())[3], { request: { text_preview: 'behind both' } })
})

test('ingress-20: what waits for room is not written anew all the time', async (t) => {
  const { caught, clock, request } = await startWith(t, createPlatform(), { config: { runs: { max_queued_runs: 1 } } })
  const send = (content: string) => caught.ingress.receive(connectorOf(), eventOf(content, { patient: true }))
  await send('/ask Which? | A | B')
  await when(async () => (await request('GET', '/v1/runs')).body[0].status === 'waiting_for_user_question')
  for (const content of ['in the queue', 'first', 'second', 'third']) await send(content)
  const sequence = async (): Promise<number> => (await request('GET', '/v1/status')).body.storage.sequence
  const before = await sequence()
  for (let leaps = 0; leaps < 60; leaps += 1) {
    clock.leap(15_000)
    await request('GET', '/v1/runs')
  }
  const written = (await sequence()) - before
  t.true(written < 40, `${written} changes in a quarter of an hour`)
})

test('ingress-14: where the clock was set back a file that never comes is waited for an hour', async (t) => {
  const platform = createPlatform()
  const { caught, clock, request } = await startWith(t, platform)
  platform.give('a', { type: 'retry', cause: 'not yet', retry_after_ms: 86_400_000 })
  await caught.ingress.receive(connectorOf(), eventOf('look', { files: [{ id: 'a' }] }))
  await when(() => platform.asked.length === 1)
  clock.jump(-365 * 86_400_000)
  for (let leaps = 0; leaps < 130; leaps += 1) {
    clock.leap(60_000)
    await new Promise((resolve) => void setImmediate(resolve))
  }
  await when(async () => (await request('GET', '/v1/runs')).body.length === 1)
  t.true(platform.asked.length < 10, `asked ${platform.asked.length} times`)
})
