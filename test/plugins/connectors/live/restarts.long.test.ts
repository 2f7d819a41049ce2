import test from 'ava'
import { rm } from 'node:fs/promises'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createLatch, type Latch } from '../../../support/latch.js'
import { createChat, liveDaemon, seen, type Chat } from '../../../support/live-chat.js'
import { createWorld, effectTools, type World } from '../../../support/effects.js'
import { openSession, until } from '../../../support/runs.js'
import { done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

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
  const held = await startTestDaemon(t, { ...options, root: folder, flags: { hold: 'true' } })
  await until(held, run.run_id, 'waiting_for_approval')
  options.clock.leap(10_000_000)
  t.deepEqual(chat.calls, [])
  await held.request('POST', '/v1/release')
  await seen('the message', () => chat.messages.size === 1)
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
