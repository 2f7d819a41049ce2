import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { createLatch, type Latch } from '../../../support/latch.js'
import { testPlugin } from '../../../support/plugins.js'
import { createChat, liveDaemon, passes, seen } from '../../../support/live-chat.js'
import { openSession, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { beginningOf } from '../../../../plugins/connectors/live/drafts.js'
import { Interceptors } from '../../../../plugins/execution/interception/contract.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'

const reply_targets = [{ plugin: 'telegram', address: 'chat-1' }]

interface Line {
  readonly says: readonly string[]
  readonly ends: ModelEvent[]
  readonly latches: readonly Latch[]
}

const start = async (t: any, settings = {}) => {
  const chat = createChat(settings)
  const lines: Line[] = []
  const model = scriptedProvider(async function* (_, __, signal) {
    const cut = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    const line = lines.shift()
    for (const [at, said] of (line?.says ?? []).entries()) {
      yield { type: 'text_delta', text: said }
      await Promise.race([line?.latches[at]?.wait(), cut])
    }
    yield* line?.ends ?? [text('Nothing.'), done()]
  })
  const hook = { wants: false }
  const watching = testPlugin('watching', {
    register: (ctx) =>
      ctx.contribute(Interceptors, {
        id: 'watching',
        rank: 1,
        wants: (event) => event === 'stop' && hook.wants,
        intercept: () => Promise.resolve(undefined),
      }),
  })
  const options = await liveDaemon(chat, model.plugin, watching)
  const daemon = await startTestDaemon(t, { ...options, config: model.config })
  await openSession(daemon)
  /** A run whose model says these, each time until the latch is opened. */
  const add = (says: string[], ends: ModelEvent[]): readonly Latch[] => {
    const latches = says.map(createLatch)
    lines.push({ says, ends, latches })
    return latches
  }
  const say = async (says: string[], ends: ModelEvent[] = [text(says.join('')), done()]) => {
    const latches = add(says, ends)
    const { body: run } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Say it.', reply_targets })
    return { run, latches }
  }
  const { clock } = options
  /** Time goes on until it holds. */
  const comes = (what: string, look: () => boolean) => seen(what, look, () => clock.leap(100_000))
  return { chat, daemon, clock, say, add, comes, hook }
}

const open = (latches: readonly Latch[]): void => latches.forEach((latch) => latch.open())

test('live-1, live-2: a typing sign from start to end, at the pace of the kind; drafts are off by default', async (t) => {
  const { chat, daemon, clock, say } = await start(t)
  const { run, latches } = await say(['Hello ', 'world'])
  await latches[0]?.reached
  await seen('the sign', () => chat.count('typing') === 1)
  clock.leap(390_000)
  await until(daemon, run.run_id, 'running')
  t.is(chat.count('typing'), 1)
  clock.leap(20_000)
  await seen('the sign again', () => chat.count('typing') === 2)
  open(latches)
  await until(daemon, run.run_id, 'completed')
  await seen('the end of the sign', () => chat.count('still') === 1)
  await seen('the answer', () => chat.count('answer') === 1)
  clock.leap(6_000_000)
  t.deepEqual([chat.count('typing'), chat.count('post'), chat.count('edit')], [2, 0, 0])
  t.deepEqual(
    [...chat.messages.values()].map((one) => one.text),
    ['Hello world'],
  )
})

test('live-5, live-6, live-7, live-8: a draft is posted, edited at the pace of the kind, and becomes the answer', async (t) => {
  const { chat, daemon, clock, say, comes } = await start(t, { stream_replies: true })
  const { run, latches } = await say(['One', ' two', ' three', ' four'])
  await latches[0]?.reached
  t.is(chat.count('post'), 0)
  await comes('the draft', () => chat.messages.get('m1')?.text === 'One')
  for (const at of [0, 1]) latches[at]?.open()
  await latches[2]?.reached
  t.is(chat.count('edit'), 0)
  await comes('one edit for both', () => chat.messages.get('m1')?.text === 'One two three')
  t.is(chat.count('edit'), 1)
  open(latches)
  await until(daemon, run.run_id, 'completed')
  await seen('the answer', () => chat.count('answer') === 1)
  clock.leap(6_000_000)
  t.deepEqual(
    [...chat.messages].map(([id, one]) => [id, one.text]),
    [['m1', 'One two three four']],
  )
  t.deepEqual([chat.count('post'), chat.count('edit')], [1, 1])
  // An answer that is there within a beat never has a draft.
  const fast = await say(['Quick'])
  open(fast.latches)
  await until(daemon, fast.run.run_id, 'completed')
  await seen('the second answer', () => chat.count('answer') === 2)
  clock.leap(6_000_000)
  t.is(chat.count('post'), 1)
})

test('live-10, live-11: a draft of a run that fails says so, and a long one is cut within the length', async (t) => {
  const { chat, daemon, clock, say, comes } = await start(t, { stream_replies: true, most_text: 500 })
  const { run, latches } = await say(
    ['x'.repeat(700), 'more'],
    [{ type: 'done', outcome: 'failed', failure: { class: 'bad_request', retryable: false, message: 'No.' } }],
  )
  await latches[0]?.reached
  await comes('the draft', () => chat.messages.has('m1'))
  t.is(chat.messages.get('m1')?.text, `${'x'.repeat(498)} …`)
  latches[0]?.open()
  await latches[1]?.reached
  clock.leap(1_000_000)
  t.is(chat.count('edit'), 0)
  open(latches)
  await until(daemon, run.run_id, 'failed')
  await comes(
    'its end',
    () => chat.messages.get('m1')?.text.endsWith('\n\nThis was not finished: the run failed.') === true,
  )
  t.true((chat.messages.get('m1')?.text.length ?? 0) <= 500)
  const cancelled = await say(['Begun'])
  await cancelled.latches[0]?.reached
  await comes('another draft', () => chat.messages.get('m2')?.text === 'Begun')
  await daemon.request('POST', `/v1/runs/${cancelled.run.run_id}/cancel`)
  await comes(
    'its end',
    () => chat.messages.get('m2')?.text === 'Begun\n\nThis was not finished: the run was cancelled.',
  )
})

test('live-12, live-13: a platform that refuses or hangs loses the draft and never the answer', async (t) => {
  const { chat, daemon, clock, say } = await start(t, { stream_replies: true })
  chat.fault = (what) => (what === 'answer' ? undefined : { type: 'later', retry_after_ms: 300_000 })
  const { run, latches } = await say(['One', ' two', ' three'])
  await latches[0]?.reached
  await seen('the sign', () => chat.count('typing') === 1)
  clock.leap(290_000)
  t.is(chat.count('post'), 0)
  open(latches)
  await until(daemon, run.run_id, 'completed')
  await seen('the answer', () => chat.count('answer') === 1)
  t.deepEqual(
    [...chat.messages.values()].map((one) => one.text),
    ['One two three'],
  )
  chat.fault = undefined
  clock.leap(400_000)
  // A call that never ends is cut off, and its message is told to be over when it comes.
  const hanging = createLatch()
  chat.before = (what) => (what === 'post' ? hanging.wait() : Promise.resolve())
  const slow = await say(['Slow', ' end'])
  await slow.latches[0]?.reached
  clock.leap(100_000)
  await hanging.reached
  open(slow.latches)
  await until(daemon, slow.run.run_id, 'completed')
  // Its delivery waits for the call, but not for long.
  clock.leap(5000)
  await seen('the answer', () => chat.count('answer') === 2)
  const settled = async () => (await daemon.request('GET', `/v1/runs/${slow.run.run_id}`)).body.deliveries?.[0]?.status
  for (let status = ''; status !== 'delivered';) status = await settled()
  hanging.open()
  await seen('the end of the draft', () =>
    [...chat.messages.values()].some(({ text: said }) => said.includes('no more of')),
  )
})

test('live-3, live-5, live-7: no draft where the target is gone or a hook may refuse the end; each turn begins anew', async (t) => {
  const { chat, daemon, clock, say, add, comes, hook } = await start(t, { stream_replies: true })
  chat.isGone = true
  const { run, latches } = await say(['One', ' two'])
  await latches[0]?.reached
  await passes(() => clock.leap(100_000))
  open(latches)
  await until(daemon, run.run_id, 'completed')
  await seen('the answer', () => chat.count('answer') === 1)
  t.deepEqual([chat.count('typing'), chat.count('post')], [0, 0])
  chat.isGone = false
  hook.wants = true
  const watched = await say(['One', ' two'])
  await watched.latches[0]?.reached
  await passes(() => clock.leap(100_000))
  open(watched.latches)
  await until(daemon, watched.run.run_id, 'completed')
  await seen('the answer', () => chat.count('answer') === 2)
  t.is(chat.count('post'), 0)
  hook.wants = false
  const turns = await say(['Looking'], [text('Looking'), callTool('c1', 'no_such_tool'), done('tool_calls')])
  const second = add(['Found'], [text('Found it.'), done()])
  await turns.latches[0]?.reached
  await comes('the draft', () => [...chat.messages.values()].some((one) => one.text === 'Looking'))
  open(turns.latches)
  await second[0]?.reached
  await comes('the next turn', () => [...chat.messages.values()].some((one) => one.text === 'Found'))
  open(second)
  await until(daemon, turns.run.run_id, 'completed')
  await seen('the answer', () => chat.count('answer') === 3)
  t.is(chat.count('post'), 1)
  t.is([...chat.messages.values()].at(-1)?.text, 'Found it.')
})

test('live-11: a draft has no half of a sign, also where words came in pieces', (t) => {
  t.is(beginningOf('a\ud83d', 500), 'a')
  t.is(beginningOf('a\ud83d\ude00', 500), 'a\ud83d\ude00')
  t.is(beginningOf(`${'x'.repeat(497)}\ud83d\ude00yz`, 500), `${'x'.repeat(497)} …`)
})
