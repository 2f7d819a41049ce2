import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { definePlugin, object } from '../../../../../core/plugin.js'
import { defineTool, Tools } from '../../../../../plugins/execution/tools/contract.js'
import type { RunContext, RunEngine } from '../../../../../plugins/execution/runs/contract.js'
import { createExecutor } from '../../../../../plugins/execution/runs/lifecycle/executor.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { createWorld, effectTools } from '../../../../support/effects.js'
import { openRunStore, playRun, runRecord } from '../../../../support/run-store.js'
import { codeOf, openSession, submit, until } from '../../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'

/** A model that holds each call until it is let go, by the text it was told. */
const held = () => {
  const asked: string[] = []
  const open = new Map<string, () => void>()
  const model = scriptedProvider(async function* ({ messages }, _, signal) {
    const said = /"text":"([^"]*)"/u.exec(JSON.stringify(messages.at(-1)))?.[1] ?? ''
    asked.push(said)
    await new Promise<void>((resolve) => {
      open.set(said, resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    yield text(said)
    yield done()
  })
  const reached = async (count: number): Promise<readonly string[]> => {
    while (asked.length < count) await new Promise((resolve) => setTimeout(resolve, 2))
    return asked
  }
  return { model, reached, letGo: (said: string) => open.get(said)?.() }
}

test('runs-32: no more runs execute than the limit; sessions then take turns, each in its own order', async (t) => {
  const { model, reached, letGo } = held()
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { max_concurrent_runs: 2, stop_grace_ms: 200 } },
  })
  for (const id of ['a', 'b', 'c']) await openSession(daemon, id)
  const runs = new Map<string, string>()
  for (const name of ['a1', 'a2', 'b1', 'c1']) runs.set(name, (await submit(daemon, name.slice(0, 1), name)).run_id)
  const statusOf = async (name: string): Promise<string> =>
    (await daemon.request('GET', `/v1/runs/${runs.get(name)}`)).body.status
  t.deepEqual([...(await reached(2))].toSorted(), ['a1', 'b1'])
  t.deepEqual(await Promise.all(['a1', 'a2', 'b1', 'c1'].map(statusOf)), ['running', 'queued', 'running', 'queued'])
  letGo('b1')
  t.is((await reached(3))[2], 'c1')
  t.is(await statusOf('a2'), 'queued')
  letGo('a1')
  t.is((await reached(4))[3], 'a2')
  letGo('a2')
  letGo('c1')
  for (const id of runs.values()) await until(daemon, id, 'completed')
})

test('a stop of the daemon keeps an answer that comes while steps may end: the model is not asked for it again', async (t) => {
  const { model, reached, letGo } = held()
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { drain_ms: 20_000, stop_grace_ms: 200 } },
  })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'one')
  await reached(1)
  const stopped = daemon.stop()
  await new Promise((resolve) => setTimeout(resolve, 300))
  letGo('one')
  await stopped
  const again = held()
  const next = await startTestDaemon(t, {
    root: daemon.root,
    plugins: [again.model.plugin],
    config: { ...again.model.config, runs: { drain_ms: 1, stop_grace_ms: 200 } },
  })
  t.is((await next.request('GET', `/v1/runs/${run_id}`)).body.status, 'completed')
  t.deepEqual(again.model.requests, [])
})

test('a stop of the daemon keeps what a call gave that ended by itself', async (t) => {
  const calls: string[] = []
  const ends: (() => void)[] = []
  const waits = definePlugin({
    id: 'waits',
    version: '1.0.0',
    api: 1,
    summary: 'A tool that waits for the test.',
    config: object({}),
    register: (ctx) =>
      ctx.contribute(
        Tools,
        defineTool({
          name: 'waits',
          description: 'Waits.',
          input: object({}),
          effect: 'idempotent',
          permission: 'allow',
          parallel: false,
          timeout_ms: 60_000,
          sandbox: 'inherited',
          run: async () => {
            calls.push('waits')
            await new Promise<void>((resolve) => void ends.push(resolve))
            return { type: 'result', output: { done: true } }
          },
        }),
      ),
  })
  const play = () =>
    scriptedProvider((_, count) =>
      count === 1 ? [callTool('c1', 'waits'), done('tool_calls')] : [text('never'), done()],
    )
  const first = play()
  const daemon = await startTestDaemon(t, {
    plugins: [waits, first.plugin],
    config: { ...first.config, runs: { drain_ms: 20_000, stop_grace_ms: 200 } },
  })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'x')
  while (ends.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  const stopped = daemon.stop()
  await new Promise((resolve) => setTimeout(resolve, 300))
  ends[0]?.()
  await stopped
  const second = scriptedProvider(() => [text('end'), done()])
  const next = await startTestDaemon(t, { root: daemon.root, plugins: [waits, second.plugin], config: second.config })
  await until(next, run_id, 'completed')
  t.deepEqual(calls, ['waits'], 'the call is not made again')
  t.like(second.requests[0]?.messages.at(-1), { role: 'tool', content: [{ output: { done: true } }] })
})

test('runs-16: a full queue refuses the next run and leaves no trace of it', async (t) => {
  const { model, reached, letGo } = held()
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { max_queued_runs: 1, stop_grace_ms: 200 } },
  })
  await openSession(daemon)
  const first = await submit(daemon, 's1', 'one')
  await reached(1)
  const second = await submit(daemon, 's1', 'two')
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'three' })), [
    429,
    'run_queue_full',
  ])
  t.is((await daemon.request('GET', '/v1/runs?page=true')).body.pagination.total_count, 2)
  letGo('one')
  await until(daemon, first.run_id, 'completed')
  await reached(2)
  letGo('two')
  await until(daemon, second.run_id, 'completed')
})

const sized = (n: number): string => 'x'.repeat(n)

test('tools-19: a call beyond a limit of the daemon is an error that the model sees, and is not made', async (t) => {
  const world = createWorld()
  const model = scriptedProvider((_, count) =>
    count === 1
      ? [
          callTool('big', 'peek', { what: sized(200) }),
          callTool('fits', 'peek', { what: 'a' }),
          callTool('over', 'peek', { what: 'b' }),
          done('tool_calls'),
        ]
      : [text('end'), done()],
  )
  const daemon = await startTestDaemon(t, {
    plugins: [effectTools(world), model.plugin],
    config: { ...model.config, tools: { limits: { max_input_bytes: 100, max_calls_per_turn: 2 } } },
  })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  t.deepEqual(world.calls, ['peek:a'])
  const results: any = model.requests[1]?.messages.at(-1)
  t.deepEqual(
    results.content.map(({ output }: any) => output.error?.code ?? output.done),
    ['call_input_too_large', 'a', 'call_limit_reached'],
  )
})

test('tools-19: an output beyond its limit fails the call, and outputs beyond the limit of one turn fail the run', async (t) => {
  const play = (_: unknown, count: number) => [
    ...Array.from({ length: count === 5 ? 3 : 1 }, (_never, at) =>
      callTool(`c${count}-${at}`, 'peek', { what: sized(count === 1 ? 300 : 150) }),
    ),
    done('tool_calls'),
  ]
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [effectTools(createWorld()), model.plugin],
    config: { ...model.config, tools: { limits: { max_output_bytes: 200, max_cumulative_output_bytes: 400 } } },
  })
  await openSession(daemon)
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'failed')
  t.regex(run.error, /^tool_output_limit: /u)
  const [first, second]: any[] = model.requests
    .slice(1)
    .map(({ messages }) => messages.at(-1))
    .flatMap((message: any) => message.content)
  t.like(first, {
    is_error: true,
    output: { error: { code: 'tool_output_too_large', message: 'The tool returned more than 200 bytes.' } },
  })
  t.like(second, { is_error: false, output: { done: sized(150) } })
})

test('an output that is beyond its limit with what stands around it fails the call', async (t) => {
  const model = scriptedProvider((_, count) =>
    count === 1 ? [callTool('c', 'peek', { what: sized(150) }), done('tool_calls')] : [text('end'), done()],
  )
  const daemon = await startTestDaemon(t, {
    plugins: [effectTools(createWorld()), model.plugin],
    config: { ...model.config, tools: { limits: { max_output_bytes: 200, max_result_envelope_bytes: 220 } } },
  })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  const results: any = model.requests[1]?.messages.at(-1)
  t.is(results.content[0].output.error.code, 'tool_output_too_large')
})

test('runs-37: an answer that was cut at its length makes none of its calls', async (t) => {
  const world = createWorld()
  const model = scriptedProvider((_, count) =>
    count === 1 ? [callTool('c', 'pay'), done('length')] : [text('end'), done()],
  )
  const daemon = await startTestDaemon(t, { plugins: [effectTools(world), model.plugin], config: model.config })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  t.deepEqual(world.calls, [])
})

/** An engine that does nothing with a run until the test lets it end. */
const idleEngine = () => {
  const told: string[] = []
  const open = new Map<string, () => void>()
  const engine: RunEngine = {
    pin: () => ({ revision: 0, permission_mode: 'default' }),
    missing: () => undefined,
    open: () => ({
      take: ({ run_id }) => ({
        steps: () => [],
        run: () => {
          told.push(`run ${run_id}`)
          return new Promise((resolve) => open.set(run_id, resolve))
        },
        stop: ({ kind }) => {
          told.push(`${kind} ${run_id}`)
          open.get(run_id)?.()
        },
        finish: () => void told.push(`finish ${run_id}`),
        abort: () => void told.push(`abort ${run_id}`),
      }),
      compact: () => Promise.resolve({ compacted: false, code: 'idle', message: 'It does nothing.' }),
    }),
  }
  return { engine, told, letGo: (run_id: string) => open.get(run_id)?.() }
}

test('an engine is given a run for each place, and runs that go on in the next life are released', async (t) => {
  const changes = await openRunStore(t)
  const { engine, told, letGo } = idleEngine()
  const config = { max_concurrent_runs: 1, drain_ms: 1, stop_grace_ms: 1 }
  const executor = createExecutor(unsafeCast<RunContext>({ ...changes, clock: createClock(), config }), engine)
  for (const [run, session] of ['r1 s1', 'r2 s1', 'r3 s2', 'r4 s3'].map((names) => names.split(' ')))
    await playRun(changes, runRecord(run ?? '', session ?? '', 'queued'))
  executor.launch('r1')
  t.false(executor.free())
  t.deepEqual(told, [], 'nothing is executed before the daemon may act')
  executor.begin()
  t.deepEqual(told, ['run r1'])
  letGo('r1')
  await executor.stop('r1', { kind: 'cancel' })
  t.deepEqual(told, ['run r1', 'cancel r1', 'run r3'], 'r1 still holds the slot of its session')
  t.deepEqual([executor.executes('r1'), executor.executes('r3')], [false, true])
  await playRun(changes, runRecord('r5', 's5', 'running'))
  executor.launch('r5')
  t.false(executor.executes('r5'), 'it waits for a place')
  await playRun(changes, runRecord('r6', 's6', 'running'))
  const ended = executor.end()
  executor.launch('r6')
  await ended
  t.deepEqual(told.slice(3), ['finish r3', 'abort r3'])
  const left: any[] = ['r1', 'r3', 'r4', 'r5', 'r6'].map((id) => changes.store.runs.find(id))
  t.deepEqual(
    left.map(({ status, released }) => [status, released]),
    [
      ['running', undefined],
      ['running', true],
      ['queued', undefined],
      ['running', true],
      ['running', true],
    ],
  )
})
