import test from 'ava'
import { createFaultyDisk } from '../../../../core/testing/faulty-disk.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { rm } from 'node:fs/promises'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLatch, type Latch } from '../../../support/latch.js'
import { createChat, liveDaemon, seen, type Chat } from '../../../support/live-chat.js'
import { createWorld, effectTools, type World } from '../../../support/effects.js'
import { openSession, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

const reply_targets = [{ plugin: 'telegram', address: 'chat-1' }]
const act = { plugin: 'telegram', connector: 'main', actor_id: 'tg:7' } as const

const root = async (t: any): Promise<string> => {
  const folder = await freshRoot()
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const waiting = async (t: any, folder: string, chat: Chat, world: World): Promise<TestDaemon> =>
  startTestDaemon(t, { ...(await liveDaemon(chat, effectTools(world))), root: folder })

test('live-17, live-19, live-23: buttons outlive a restart with their tokens, and what was decided meanwhile is told', async (t) => {
  const [folder, chat, world] = [await root(t), createChat({ approver_ids: ['tg:7'] }), createWorld()]
  const first = await waiting(t, folder, chat, world)
  await openSession(first)
  const content = ['a', 'b'].map((what) => `/tool mcp__pay ${JSON.stringify({ what })}`).join('\n')
  const { body: run } = await first.request('POST', '/v1/sessions/s1/runs', { content, reply_targets })
  await seen('both messages', () => chat.messages.size === 2)
  const [one, other] = [...chat.messages.keys()]
  const tokens = [chat.token('Allow', one), chat.token('Deny', other)]
  await first.stop()
  t.is(chat.count('post'), 2)
  const second = await waiting(t, folder, chat, world)
  await until(second, run.run_id, 'waiting_for_approval')
  t.is((await chat.live().press({ ...act, token: tokens[0] ?? '' })).type, 'decided')
  await seen('its end', () => chat.messages.get(one ?? '')?.text.endsWith('Allowed by tg:7.') === true)
  t.is((await until(second, run.run_id, 'waiting_for_approval')).pending_approvals.length, 1)
  // The platform is away when it is decided on, and the daemon goes before it is back.
  chat.fault = () => ({ type: 'later' })
  t.is((await chat.live().press({ ...act, token: tokens[1] ?? '' })).type, 'decided')
  await until(second, run.run_id, 'completed')
  await second.stop()
  chat.fault = undefined
  await waiting(t, folder, chat, world)
  await seen('its end', () => chat.messages.get(other ?? '')?.text.endsWith('Denied by tg:7.') === true)
  t.deepEqual(await chat.live().press({ ...act, token: tokens[1] ?? '' }), { type: 'over', text: 'Denied by tg:7.' })
  t.deepEqual([chat.count('post'), world.calls], [2, ['mcp__pay:a']])
})

test('live-3: a daemon that holds shows nothing of what waits', async (t) => {
  const [folder, chat, world] = [await root(t), createChat({ approver_ids: ['tg:7'] }), createWorld()]
  chat.fault = () => ({ type: 'later' })
  const first = await waiting(t, folder, chat, world)
  await openSession(first)
  const content = '/tool mcp__pay {"what":"a"}'
  const { body: run } = await first.request('POST', '/v1/sessions/s1/runs', { content, reply_targets })
  await until(first, run.run_id, 'waiting_for_approval')
  await first.stop()
  chat.fault = undefined
  chat.calls.length = 0
  const options = await liveDaemon(chat, effectTools(world))
  const held = await startTestDaemon(t, {
    ...options,
    root: folder,
    flags: { ...options.flags, hold: 'true' },
  })
  await until(held, run.run_id, 'waiting_for_approval')
  options.clock.leap(10_000_000)
  t.deepEqual(chat.calls, [])
  await held.request('POST', '/v1/release')
  await seen('the message', () => chat.messages.size === 1)
})

test('live-23: a request whose connector is away at the start is asked when it is back', async (t) => {
  const [folder, chat, world] = [await root(t), createChat({ approver_ids: ['tg:7'] }), createWorld()]
  chat.fault = () => ({ type: 'later' })
  const first = await waiting(t, folder, chat, world)
  await openSession(first)
  const content = '/tool mcp__pay {"what":"a"}'
  const { body: run } = await first.request('POST', '/v1/sessions/s1/runs', { content, reply_targets })
  await seen('an attempt', () => chat.count('post') > 0)
  await first.stop()
  Object.assign(chat, { fault: undefined, isGone: true })
  const options = await liveDaemon(chat, effectTools(world))
  const second = await startTestDaemon(t, { ...options, root: folder })
  await until(second, run.run_id, 'waiting_for_approval')
  chat.isGone = false
  await seen(
    'the message',
    () => chat.messages.size === 1,
    () => options.clock.leap(100_000),
  )
  t.is((await chat.live().press({ ...act, token: chat.token('Allow') })).type, 'decided')
})

interface Life {
  readonly daemon: TestDaemon
  readonly latch: Latch
  readonly comes: (what: string, look: () => boolean) => Promise<void>
}

/** A life whose model says one thing and waits; what it ends with is the whole answer. */
const speaking = async (t: any, folder: string, chat: Chat): Promise<Life> => {
  const latch = createLatch()
  const model = scriptedProvider(async function* (_, __, signal) {
    yield { type: 'text_delta', text: 'Begun' }
    const cut = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await Promise.race([latch.wait(), cut])
    yield* [text('Begun and done.'), done()]
  })
  const options = await liveDaemon(chat, model.plugin)
  const daemon = await startTestDaemon(t, { ...options, root: folder, config: model.config })
  return { daemon, latch, comes: (what, look) => seen(what, look, () => options.clock.leap(100_000)) }
}

test('live-8, live-9: a draft outlives a restart of its run, and of its delivery', async (t) => {
  const [folder, chat] = [await root(t), createChat({ stream_replies: true })]
  const first = await speaking(t, folder, chat)
  await openSession(first.daemon)
  const { body: run } = await first.daemon.request('POST', '/v1/sessions/s1/runs', {
    content: 'Say it.',
    reply_targets,
  })
  await first.comes('the draft', () => chat.messages.get('m1')?.text === 'Begun')
  await first.daemon.stop()
  // The run goes on in the same message, and its delivery fails until the daemon goes once more.
  chat.isDeaf = true
  const second = await speaking(t, folder, chat)
  await second.latch.reached
  second.latch.open()
  await until(second.daemon, run.run_id, 'completed')
  await second.daemon.stop()
  chat.isDeaf = false
  const third = await speaking(t, folder, chat)
  await third.comes('the answer', () => chat.count('answer') === 1)
  t.deepEqual(
    [...chat.messages].map(([id, one]) => [id, one.text]),
    [['m1', 'Begun and done.']],
  )
  t.is(chat.count('post'), 1)
})

test('live-8, live-9, live-23: a kill at twelve moments: one message for each answer and request, but for the window', async (t) => {
  const folder = await root(t)
  for (let at = 1; at <= 12; at += 1) {
    const chat = createChat({ stream_replies: true, approver_ids: ['tg:7'] })
    const faulty = createFaultyDisk()
    const session_id = `kill-${at}`
    const life = async (disk?: Disk) => {
      const model = scriptedProvider(async function* (request, _, signal) {
        yield { type: 'text_delta', text: 'Begun' }
        const cut = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
        await Promise.race([seen('the draft', () => chat.messages.size > 0), cut])
        const isFirst = request.messages.length < 3
        yield* isFirst ? [callTool('c1', 'mcp__pay', { what: 'a' }), done('tool_calls')] : [text('All of it.'), done()]
      })
      const options = await liveDaemon(chat, model.plugin, effectTools(createWorld()))
      const started = await startTestDaemon(t, {
        ...options,
        root: folder,
        config: model.config,
        ...(disk !== undefined && { disk }),
      })
      return { daemon: started, leap: () => options.clock.leap(100_000) }
    }
    const first = await life(faulty.disk)
    await openSession(first.daemon, session_id)
    const asking = { content: 'Pay.', reply_targets }
    const { body: run } = await first.daemon.request('POST', `/v1/sessions/${session_id}/runs`, asking)
    // A while later than the one before: it comes before, in and behind the messages.
    for (let n = 0; n < at; n += 1) {
      first.leap()
      await new Promise((resolve) => setTimeout(resolve, 5 * n))
    }
    faulty.cut()
    await first.daemon.stop()
    faulty.heal()
    const before = chat.messages.size
    const second = await life()
    const tokens = () => [...chat.messages.values()].flatMap(({ buttons }) => buttons.map(({ token }) => token))
    await seen('a button', () => tokens().length > 0, second.leap)
    t.is((await chat.live().press({ ...act, token: tokens()[0] ?? '' })).type, 'decided')
    await until(second.daemon, run.run_id, 'completed')
    await seen('the answer', () => chat.count('answer') === 1, second.leap)
    const texts = [...chat.messages.values()].map((one) => one.text)
    t.is(texts.filter((one) => one === 'All of it.').length, 1)
    // A message of which the daemon did not learn in time stays: one for the draft, one for the request.
    t.true(texts.length <= 2 + Math.min(2, before), texts.join(' | '))
    await second.daemon.stop()
  }
})
