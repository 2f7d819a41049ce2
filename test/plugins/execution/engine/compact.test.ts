import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { ModelEvent, ModelRequest } from '../../../../plugins/execution/models/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { copyRoot, watchedDisk } from '../../../support/crash.js'
import { orphans } from '../../../support/conversations.js'
import { freshRoot, startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { watcher } from '../../../support/interceptors.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import {
  callTool,
  done,
  fails,
  scriptedProvider,
  text,
  type Play,
} from '../../../../plugins/providers/scripted/contract.js'

const isSummary = ({ system }: ModelRequest): boolean => system.startsWith('You sum up')
const saidIn = ({ messages }: ModelRequest): string => JSON.stringify(messages)
const tooLong: ModelEvent = {
  type: 'done',
  outcome: 'failed',
  failure: { class: 'context_length', retryable: false, message: 'It is too long.' },
}
const long = (name: string): string => `${name} `.padEnd(12_000, 'lorem ipsum ')

interface Start extends Omit<TestDaemonOptions, 'config'> {
  readonly runs?: Readonly<Record<string, number>>
  readonly window?: number
}

/** Each answer is of 12,000 characters, unless the model is asked to sum up. */
const start = async (
  t: ExecutionContext,
  play: Play,
  { runs = {}, window = 19_300, plugins = [], ...rest }: Start = {},
) => {
  const root = rest.root ?? (await freshRoot())
  mkdirSync(path.join(root, 'config'), { recursive: true })
  const entry = `[routes.r]\ndriver = "scripted"\ncontext_window = ${window}\n`
  writeFileSync(path.join(root, 'config', 'routes.toml'), entry)
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    ...rest,
    root,
    plugins: [model.plugin, effectTools(createWorld()), ...plugins],
    config: { runs: { model_retry_base_ms: 1, compact_at_percent: 60, ...runs } },
  })
  await openSession(daemon)
  const run = async (content: string): Promise<any> =>
    until(daemon, (await submit(daemon, 's1', content)).run_id, 'completed', 'failed')
  const journal = async (): Promise<any[]> => {
    const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
    return body.session.journal.map(({ type, run_id, seq, entry: of }: any) => ({ ...of, type, run_id, seq }))
  }
  const compactions = async (): Promise<any[]> => (await journal()).filter(({ type }) => type.startsWith('compaction'))
  const summaries = (): ModelRequest[] => model.requests.filter(isSummary)
  return { ...daemon, run, journal, compactions, summaries, asked: model.requests }
}

const usual: Play = (request, count) =>
  isSummary(request) ? [text('They spoke of ships.'), done()] : [text(long(`answer ${count}`)), done()]

test('prompt-7: a conversation near context_max_bytes is summed up before its oldest runs go, however long the window is', async (t) => {
  const daemon = await start(t, usual, { window: 1_000_000, runs: { context_max_bytes: 60_000 } })
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) await daemon.run(name)
  t.deepEqual(
    (await daemon.compactions()).map(({ type, cause }) => [type, cause]),
    [['compaction', 'window']],
  )
  const last = daemon.asked.at(-1) as ModelRequest
  t.regex(JSON.stringify(last.messages[0]), /They spoke of ships\./u)
  t.notRegex(saidIn(last), /are not shown/u)
})

test('prompt-7, prompt-8: a long conversation is summed up by its own route; the journal says so and keeps what was said', async (t) => {
  const daemon = await start(t, usual)
  const runs = []
  for (const name of ['one', 'two', 'three', 'four']) runs.push(await daemon.run(name))
  t.is(daemon.summaries().length, 1)
  const [made, ...more] = await daemon.compactions()
  t.deepEqual(more, [])
  t.like(made, { type: 'compaction', cause: 'window', summary: 'They spoke of ships.', usage: { input_tokens: 1 } })
  t.true(made.tokens_after < made.tokens_before * 0.6, 'the tools are in both')
  const { system, messages, tools } = daemon.summaries()[0] ?? ({} as ModelRequest)
  t.true(system.length > 300)
  t.deepEqual([messages.length, tools.length], [1, 0])
  t.regex(saidIn(daemon.summaries()[0] as ModelRequest), /<conversation>.*user: one.*assistant: answer 1/u)
  const last = daemon.asked.at(-1) as ModelRequest
  t.regex(JSON.stringify(last.messages[0]), /<conversation_summary>.*They spoke of ships\./u)
  t.notRegex(saidIn(last), /answer 1 /u)
  t.regex(saidIn(last), /four/u)
  const said = (await daemon.journal()).filter(({ type }) => type === 'message')
  t.is(said.length, 4, 'the original stays')
  const summing = runs.find(({ run_id }) => run_id === made.run_id)
  t.is(summing.usage.calls, 2, 'what it used is of its run')
  const { body: steps } = await daemon.request('GET', `/v1/runs/${made.run_id}/events?steps=true`)
  t.like(steps.find(({ event }: any) => event.type === 'compacted').event, {
    cause: 'window',
    messages: made.messages,
    tokens_before: made.tokens_before,
  })
})

test('prompt-8: a run that goes on for long is summed up in its middle, and keeps what it was told', async (t) => {
  const daemon = await start(t, (request, count) => {
    if (isSummary(request)) return [text(`Peeked until ${count}.`), done()]
    if (count > 14) return [text('All peeked.'), done()]
    return [text(long(`look ${count}`)), callTool(`c${count}`, 'peek'), done('tool_calls')]
  })
  const run = await daemon.run('Look at everything, captain.')
  t.is(run.status, 'completed')
  t.true(daemon.summaries().length > 1)
  for (const request of daemon.asked) {
    t.deepEqual(orphans(request.messages), [])
    t.regex(saidIn(request), /Look at everything, captain/u)
  }
  t.regex(saidIn(daemon.summaries()[1] as ModelRequest), /Peeked until/u, 'a summary is summed up again')
})

test('prompt-9: three compactions that fail or win nothing are the last of a session, which is cut instead', async (t) => {
  const answers: ModelEvent[][] = [
    [{ type: 'done', outcome: 'failed', failure: { class: 'overloaded', retryable: true, message: 'Busy.' } }],
    [text('x'.repeat(31_000)), done()],
    [text(' \u200b\n'), done()],
  ]
  const daemon = await start(
    t,
    (request, count) =>
      isSummary(request) ? (answers.shift() ?? [text('Late.'), done()]) : [text(long(`answer ${count}`)), done()],
    { runs: { compact_at_percent: 30 } },
  )
  for (let n = 0; n < 9; n += 1) t.is((await daemon.run(`run ${n}`)).status, 'completed')
  t.deepEqual(
    (await daemon.compactions()).map(({ type, code, given_up }) => [type, code, given_up]),
    [
      ['compaction_failed', 'model_overloaded', undefined],
      ['compaction_failed', 'summary_useless', undefined],
      ['compaction_failed', 'summary_empty', true],
    ],
  )
  t.is(daemon.summaries().length, 3)
  t.regex(JSON.stringify(daemon.asked.at(-1)?.messages[0]), /Earlier messages of this conversation are not shown/u)
  t.is(daemon.log.filter(({ fact }) => /not summed up any more/u.test(fact)).length, 1)
})

/** Calls by what they were for. */
const booked = async ({ request }: Pick<TestDaemon, 'request'>): Promise<Record<string, number>> => {
  const { body } = await request('GET', '/v1/usage?by=purpose')
  return Object.fromEntries(body.map(({ purpose, calls }: any) => [purpose, calls]))
}

test('prompt-7, usage-2: a compaction that fails without a word about tokens is a call of its run', async (t) => {
  const daemon = await start(t, (request, count) =>
    isSummary(request) ? [fails(false)] : [text(long(`answer ${count}`)), done()],
  )
  const runs = []
  for (const name of ['one', 'two', 'three', 'four']) runs.push(await daemon.run(name))
  const [failed] = await daemon.compactions()
  t.like(failed, { type: 'compaction_failed', code: 'model_bad_request', usage: undefined })
  t.is(runs.find(({ run_id }) => run_id === failed.run_id).usage.calls, 2)
  t.deepEqual(await booked(daemon), { run: daemon.asked.length })
})

test('prompt-7, usage-2: a compaction that its run is cancelled in is a call of that run', async (t) => {
  const daemon = await start(t, async function* (request, count, signal) {
    if (!isSummary(request)) return void (yield* [text(long(`answer ${count}`)), done()])
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    yield fails(false)
  })
  for (const name of ['one', 'two', 'three']) await daemon.run(name)
  const { run_id } = await submit(daemon, 's1', 'four')
  while (daemon.summaries().length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  const run = await until(daemon, run_id, 'cancelled')
  t.is(run.usage.calls, 1)
  t.deepEqual(await booked(daemon), { run: daemon.asked.length })
})

test('prompt-11, usage-12: a compaction that people ask for is booked as one, however it ends, and none that was not made', async (t) => {
  const { plugin, rules } = watcher()
  let end: ModelEvent = fails(false)
  const daemon = await start(
    t,
    (request, count) =>
      isSummary(request) ? [text('They spoke of ships.'), end] : [text(long(`answer ${count}`)), done()],
    { window: 400_000, plugins: [plugin] },
  )
  const runs = []
  for (const name of ['one', 'two', 'three']) runs.push(await daemon.run(name))
  const compact = async () => (await daemon.request('POST', '/v1/sessions/s1/compact')).body
  t.like(await compact(), { compacted: false, code: 'model_bad_request' })
  t.deepEqual(await booked(daemon), { compaction: 1, run: 3 })
  rules.pre_compact = () => ({ block: 'Not now.' })
  t.like(await compact(), { compacted: false, code: 'hook_blocked' })
  t.deepEqual(await booked(daemon), { compaction: 1, run: 3 })
  delete rules.pre_compact
  end = done()
  t.like(await compact(), { compacted: true })
  t.deepEqual(await booked(daemon), { compaction: 2, run: 3 })
  t.is(
    runs.reduce((sum, { usage }) => sum + usage.calls, 0),
    3,
  )
})

test('prompt-10: a conversation that a model refuses as too long is summed up once, and the model asked once more', async (t) => {
  let refusals = 1
  const daemon = await start(
    t,
    (request, count) => {
      if (isSummary(request)) return [text('Short.'), done()]
      if (saidIn(request).includes('go') && refusals > 0) {
        refusals -= 1
        return [tooLong]
      }
      return [text(long(`answer ${count}`)), done()]
    },
    { window: 400_000 },
  )
  for (const name of ['one', 'two']) await daemon.run(name)
  t.is((await daemon.run('go')).status, 'completed')
  t.deepEqual(
    (await daemon.compactions()).map(({ type, cause }) => [type, cause]),
    [['compaction', 'refused']],
  )
  refusals = 99
  const failed = await daemon.run('go on')
  t.is(failed.error, 'model_context_length: It is too long.')
  const asked = daemon.asked.filter((request) => saidIn(request).includes('go on') && !isSummary(request))
  t.is(asked.length, 2)
})

test('prompt-10: one conversation that is refused has no other one summed up or cut', async (t) => {
  const refuses: Play = (request) => (saidIn(request).includes('refused') ? [tooLong] : [text('Short.'), done()])
  const daemon = await start(t, refuses, { window: 24_000 })
  t.is((await daemon.run('refused')).status, 'failed')
  await openSession(daemon, 's2')
  for (const name of ['one', 'two', 'three'])
    await until(daemon, (await submit(daemon, 's2', name.padEnd(3_000))).run_id, 'completed')
  t.deepEqual(
    daemon.asked.slice(-3).map(({ messages }) => messages.length),
    [1, 3, 5],
  )
})

test('prompt-7: with compact_at_percent 0 nothing is summed up by itself', async (t) => {
  const daemon = await start(t, usual, { runs: { compact_at_percent: 0 } })
  for (let n = 0; n < 6; n += 1) await daemon.run(`run ${n}`)
  t.deepEqual(await daemon.compactions(), [])
})

test('prompt-11: people have a conversation summed up while nothing runs, by a route and by a command', async (t) => {
  const daemon = await start(t, usual, { window: 400_000 })
  const compact = (body: object = {}, session = 's1') => daemon.request('POST', `/v1/sessions/${session}/compact`, body)
  t.deepEqual(codeOf(await compact({}, 'nobody')), [404, 'session_not_found'])
  t.like((await compact()).body, { compacted: false, code: 'nothing_to_compact' })
  for (const name of ['one', 'two', 'three']) await daemon.run(name)
  const made = await compact({ instructions: 'Keep the names of ships.' })
  t.like(made, { status: 200, body: { compacted: true } })
  t.true(made.body.tokens_after < made.body.tokens_before)
  t.regex(daemon.summaries()[0]?.system ?? '', /Keep the names of ships\.$/u)
  t.like((await daemon.compactions())[0], { cause: 'manual', run_id: '', messages: made.body.messages })
  await daemon.run('four')
  t.regex(JSON.stringify(daemon.asked.at(-1)?.messages[0]), /They spoke of ships/u)
  await daemon.run('five')
  const ran = await createCommandLine(daemon)('sessions', 'compact', 's1')
  t.regex(ran.out, /^Summed up \d+ messages: about \d+ tokens before, \d+ after\./u)
  const usage = (await daemon.request('GET', '/v1/usage?by=session')).body
  t.is(JSON.stringify(usage).includes('"calls":7'), true, JSON.stringify(usage))
})

test('prompt-11: where the route of the last run is gone, that of the next one sums up, or the session is told of', async (t) => {
  const daemon = await start(t, usual, { window: 400_000 })
  for (const name of ['one', 'two', 'three']) await daemon.run(name)
  const file = path.join(daemon.root, 'config', 'routes.toml')
  writeFileSync(file, 'default_route = "s"\n[routes.s]\ndriver = "scripted"\ncontext_window = 400000\n')
  const routes = async (): Promise<string> => JSON.stringify((await daemon.request('GET', '/v1/runtime')).body)
  while ((await routes()).includes('"route_id":"r"')) await new Promise((resolve) => setTimeout(resolve, 20))
  await daemon.request('PUT', '/v1/sessions/s1/route-policy', { route_policy: { provider: 's' } })
  writeFileSync(file, 'default_route = "u"\n[routes.u]\ndriver = "scripted"\ncontext_window = 400000\n')
  while ((await routes()).includes('"route_id":"s"')) await new Promise((resolve) => setTimeout(resolve, 20))
  const gone = await daemon.request('POST', '/v1/sessions/s1/compact')
  t.deepEqual(codeOf(gone), [400, 'route_not_ready'])
  t.regex(gone.body.detail, /route s .*route policy of the session/u)
  t.false('errors' in gone.body)
  await daemon.request('DELETE', '/v1/sessions/s1/route-policy')
  t.like((await daemon.request('POST', '/v1/sessions/s1/compact')).body, { compacted: true })
})

test('prompt-8: a summary of a conversation whose beginning was left out says so, to who sums up and behind it', async (t) => {
  const daemon = await start(t, usual, { window: 400_000, runs: { context_max_bytes: 50_000, compact_at_percent: 0 } })
  for (let n = 0; n < 6; n += 1) await daemon.run(`run ${n}`)
  t.like((await daemon.request('POST', '/v1/sessions/s1/compact')).body, { compacted: true })
  const notShown = /Earlier messages of this conversation are not shown/u
  t.regex(JSON.stringify(daemon.summaries()[0]?.messages), notShown)
  t.is((await daemon.compactions())[0].lacking, true)
  await daemon.run('next')
  const [summary, ...more] = daemon.asked.at(-1)?.messages ?? []
  t.regex(JSON.stringify(summary), /They spoke of ships/u)
  t.regex(JSON.stringify(more[0]), notShown)
})

test('prompt-11: of two compactions at the same time one counts', async (t) => {
  let release = (): void => {}
  const isReleased = new Promise<void>((resolve) => (release = resolve))
  let asked = 0
  const daemon = await start(t, async function* (request, count) {
    if (!isSummary(request)) return void (yield* [text(long(`answer ${count}`)), done()])
    asked += 1
    if (asked === 1) await isReleased
    yield* [text(`Summary ${asked}.`), done()]
  })
  for (const name of ['one', 'two', 'three']) await daemon.run(name)
  const compact = () => daemon.request('POST', '/v1/sessions/s1/compact')
  const first = compact()
  while (asked === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  await daemon.run('four')
  release()
  t.like((await first).body, { compacted: false, code: 'conversation_changed' })
  t.deepEqual(
    (await daemon.compactions()).map(({ cause }) => cause),
    ['window'],
  )
  t.is(asked, 2)
})

test('prompt-11: a compaction is made for whoever still waits when the first to ask goes away, and a stop is told as one', async (t) => {
  let asked = 0
  const hangs = new Set([1, 3])
  const daemon = await start(
    t,
    async function* (request, count, signal) {
      if (!isSummary(request)) return void (yield* [text(long(`answer ${count}`)), done()])
      asked += 1
      if (hangs.has(asked)) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return void (yield fails(false))
      }
      yield* [text(`Summary ${asked}.`), done()]
    },
    { window: 400_000 },
  )
  const until = async (count: number): Promise<void> => {
    while (asked < count) await new Promise((resolve) => setTimeout(resolve, 2))
  }
  for (const name of ['one', 'two', 'three']) await daemon.run(name)
  const compact = () => daemon.request('POST', '/v1/sessions/s1/compact')
  const away = new AbortController()
  const url = `${daemon.url}/v1/sessions/s1/compact`
  const first = fetch(url, { method: 'POST', signal: away.signal }).catch(() => undefined)
  await until(1)
  const second = compact()
  await daemon.request('GET', '/v1/sessions/s1')
  away.abort()
  await first
  t.like((await second).body, { compacted: true })
  t.is(asked, 2)
  for (const name of ['four', 'five', 'six']) await daemon.run(name)
  const third = compact()
  await until(3)
  await daemon.stop()
  t.like((await third).body, { compacted: false, code: 'stopped' })
})

test('prompt-7, hooks-33: who looks at pre_compact may keep a conversation from being summed up, and post_compact is told', async (t) => {
  const { plugin, seen, rules } = watcher()
  rules.pre_compact = ({ subject }) => (subject === 'window' ? { block: 'Not now.' } : { contexts: ['Mind the tide.'] })
  rules.post_compact = () => undefined
  const daemon = await start(t, usual, { plugins: [plugin] })
  for (let n = 0; n < 4; n += 1) await daemon.run(`run ${n}`)
  t.like((await daemon.compactions())[0], { type: 'compaction_failed', code: 'hook_blocked', message: 'Not now.' })
  t.is(daemon.summaries().length, 0)
  await daemon.request('POST', '/v1/sessions/s1/compact')
  const told = () => seen.filter(({ event }) => event === 'post_compact')
  for (let tries = 0; told().length === 0 && tries < 2_000; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 2))
  t.regex(daemon.summaries()[0]?.system ?? '', /Mind the tide\.$/u)
  t.like(told()[0]?.payload, { trigger: 'manual', summary: 'They spoke of ships.' })
})

test('prompt-8: a daemon that is killed at any step of a compaction ends with the right answer and one summary', async (t) => {
  const root = await freshRoot()
  const copies = await freshRoot()
  const moments: string[] = []
  let watching = false
  const keep = (): void => {
    if (!watching) return
    const to = path.join(copies, String(moments.length))
    copyRoot(root, to)
    moments.push(to)
  }
  const play: Play = async function* (request, count) {
    if (isSummary(request)) {
      keep()
      yield text('They spoke of ships.')
      keep()
      return void (yield done())
    }
    yield text(saidIn(request).includes('last') ? 'The end.' : long(`answer ${count}`))
    yield done()
  }
  const first = await start(t, play, { root, disk: watchedDisk(keep) })
  for (const name of ['one', 'two', 'three']) await first.run(name)
  watching = true
  const run_id = (await submit(first, 's1', 'last')).run_id
  await until(first, run_id, 'completed')
  watching = false
  await first.stop()
  const seen = new Set<number>()
  t.true(moments.length >= 4, `${moments.length}`)
  for (const [at, moment] of moments.entries()) {
    const again: TestDaemon & Awaited<ReturnType<typeof start>> = await start(t, play, { root: moment })
    const { status } = await again.request('GET', `/v1/runs/${run_id}`)
    if (status === 200) {
      const run = await until(again, run_id, 'completed')
      t.is(run.outputs.at(-1).content, 'The end.', `moment ${at}`)
      const made = await again.compactions()
      t.is(made.length, 1, `moment ${at}`)
      const asked = again.asked.find((request) => !isSummary(request))
      if (asked !== undefined) t.regex(saidIn(asked), /They spoke of ships/u)
      seen.add(again.summaries().length)
    }
    await again.stop()
  }
  t.deepEqual([...seen].toSorted(), [0, 1], 'some were summed up again, and some were not')
})
