import test from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { unpaired } from '../../../support/models.js'
import { codeOf, eventTypes, openSession, submit, until } from '../../../support/runs.js'
import {
  callTool,
  done,
  fails,
  scriptedProvider,
  text,
  type Play,
} from '../../../../plugins/providers/scripted/contract.js'
import { volume } from '../../../support/volume.js'

const start = async (t: any, play: Play, runs: Record<string, number> = {}) => {
  const world = createWorld()
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [effectTools(world), model.plugin],
    config: { ...model.config, runs: { model_retry_base_ms: 1, stop_grace_ms: 200, ...runs } },
  })
  await openSession(daemon)
  return { world, model, daemon }
}

const outcomes = async (daemon: TestDaemon): Promise<any[]> =>
  (await daemon.request('GET', '/v1/sessions/s1/events?limit=10000')).body.session.journal
    .filter((entry: any) => entry.type === 'outcome')
    .map(({ entry }: any) => entry)

test('runs-34: a retryable failure is tried again, and nothing of the failed answer is used', async (t) => {
  const { daemon, model, world } = await start(t, (_, count) =>
    count === 1 ? [text('half'), callTool('c1', 'pay'), fails(true)] : [text('whole'), done()],
  )
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  t.deepEqual(
    run.outputs.map(({ content }: any) => content),
    ['whole'],
  )
  t.is(model.requests.length, 2)
  t.deepEqual(world.calls, [])
})

test('models-21: half a surrogate pair of a model is kept as U+FFFD, and a NUL as it is', async (t) => {
  const { daemon, world } = await start(t, (_, count) =>
    count === 1
      ? [callTool('c1', 'pay', { what: 'x\u0000y' }), done('tool_calls')]
      : [text('a\ud83d'), text('z😀\u0000'), done()],
  )
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  t.is(run.outputs[0].content, 'a\ufffdz😀\u0000')
  t.deepEqual(world.calls, ['pay:x\u0000y'], 'a tool is given what the model wrote')
  const journal = JSON.stringify((await daemon.request('GET', '/v1/sessions/s1/events')).body)
  t.deepEqual([journal.includes('\\ud83d'), journal.includes('😀\\u0000')], [false, true])
})

for (const [what, play] of [
  [
    'a call that is no JSON',
    () => [
      {
        type: 'part',
        part: { type: 'tool_call', id: 'c1', name: 'look', input: {}, unparsed: 'x'.repeat(25 * 1024 * 1024) },
      },
      done('tool_calls'),
    ],
  ],
  ['a text', () => [text('x'.repeat(25 * 1024 * 1024)), done()]],
  ['a call', () => [callTool('c1', 'look', { about: 'x'.repeat(25 * 1024 * 1024) }), done('tool_calls')]],
] satisfies [string, Play][])
  test(`models-22: an answer that is larger than what is kept at once fails its run by name: ${what}`, async (t) => {
    const { daemon, model } = await start(t, play)
    const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'failed')
    t.is(run.error, 'model_answer_too_large: the answer of the model is larger than what is kept at once.')
    t.is(model.requests.length, 1)
  })

test('runs-34: failures that go on end the run with a code, and a fatal one at once', async (t) => {
  const { daemon, model } = await start(
    t,
    ({ messages }) => [fails(JSON.stringify(messages.at(-1)).includes('again'))],
    { model_patience_ms: 0 },
  )
  const busy = await until(daemon, (await submit(daemon, 's1', 'again')).run_id, 'failed')
  t.is(busy.error, 'model_retries_exhausted: It is busy.')
  t.is(model.requests.length, 3)
  const fatal = await until(daemon, (await submit(daemon, 's1', 'never')).run_id, 'failed')
  t.is(fatal.error, 'model_bad_request: It is busy.')
  t.is(model.requests.length, 4)
  t.like((await daemon.request('GET', '/v1/sessions/s1')).body.snapshot, {
    last_error: fatal.error,
    agent: { status: 'failed' },
  })
})

test('a provider that throws, stops short, repeats a call id or calls without end has failed', async (t) => {
  const { daemon } = await start(t, ({ messages }) => {
    const said = JSON.stringify(messages.at(-1))
    if (said.includes('throw')) throw new TypeError('provider detail')
    if (said.includes('endless')) return Array.from({ length: 1_001 }, (_, n) => callTool(`call_${n}`, 'peek'))
    return said.includes('short')
      ? [text('no end')]
      : [callTool('same', 'peek'), callTool('same', 'peek'), done('tool_calls')]
  })
  t.is(
    (await until(daemon, (await submit(daemon, 's1', 'throw')).run_id, 'failed')).error,
    'model_unknown: The provider scripted failed in an unexpected way: the log of the daemon has the cause.',
  )
  t.regex(
    (await until(daemon, (await submit(daemon, 's1', 'short')).run_id, 'failed')).error,
    /^model_retries_exhausted: The answer of the model was cut off/u,
  )
  t.regex(
    (await until(daemon, (await submit(daemon, 's1', 'twice')).run_id, 'failed')).error,
    /^model_retries_exhausted: .*same id/u,
  )
  t.regex(
    (await until(daemon, (await submit(daemon, 's1', 'endless')).run_id, 'failed')).error,
    /^model_retries_exhausted: .*more than 1000 tool calls/u,
  )
})

test('tools-16: bad calls become errors that the model sees, and good ones of the same turn still run', async (t) => {
  const { daemon, model, world } = await start(t, (_, count) =>
    count === 1
      ? [
          callTool('a', 'nowhere'),
          callTool('b', 'pay', { what: 7 }),
          callTool('c', 'pay', { what: 'ok' }),
          callTool('d', 'throws'),
          callTool('e', 'hangs'),
          done('tool_calls'),
        ]
      : [text('end'), done()],
  )
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  t.is(run.outputs[0].content, 'end')
  t.deepEqual(world.calls, ['pay:ok'])
  const results: any = model.requests[1]?.messages.at(-1)
  t.deepEqual(
    results.content.map(({ tool_call_id, is_error }: any) => `${tool_call_id} ${is_error}`),
    ['a true', 'b true', 'c false', 'd true', 'e true'],
  )
  t.false(JSON.stringify(results).includes('secret detail'))
})

test('runs-36: a call that fails in the same way three times stops the run', async (t) => {
  const { daemon, model } = await start(t, (_, count) => [callTool(`c${count}`, 'refuses'), done('tool_calls')])
  t.regex((await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'failed')).error, /^tool_failure_repeated: /u)
  t.is(model.requests.length, 3)
})

test('runs-37: a run whose calls are cut at the length of its answers again and again says so', async (t) => {
  const { daemon, model, world } = await start(t, (_, count) => [callTool(`c${count}`, 'peek'), done('length')])
  const { error } = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'failed')
  t.regex(error, /^answer_cut_repeated: .* in 3 turns in a row\. Let answers of its model be longer \(generation\.max/u)
  t.is(model.requests.length, 3)
  t.deepEqual(world.calls, [])
})

test('runs-33: a run ends at its limit of turns and of time', async (t) => {
  const turns = await start(t, (_, count) => [callTool(`c${count}`, 'peek'), done('tool_calls')], { max_turns: 4 })
  t.regex((await until(turns.daemon, (await submit(turns.daemon, 's1', 'x')).run_id, 'failed')).error, /^turn_limit: /u)
  t.is(turns.world.calls.length, 4)
  const time = await start(t, (_, count) => (count === 1 ? [callTool('c', 'slow'), done('tool_calls')] : [done()]), {
    run_time_limit_ms: 150,
  })
  t.regex(
    (await until(time.daemon, (await submit(time.daemon, 's1', 'x')).run_id, 'failed')).error,
    /^run_time_limit: /u,
  )
  t.deepEqual(time.world.calls, ['slow:begin', 'slow:aborted'])
})

test('runs-38: parallel calls of a turn run side by side and their results keep the order of the calls', async (t) => {
  const { daemon, model } = await start(t, (_, count) =>
    count === 1
      ? [callTool('a', 'peek', { what: '1' }), callTool('b', 'peek', { what: '2' }), done('tool_calls')]
      : [text('ok'), done()],
  )
  await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  const results: any = model.requests[1]?.messages.at(-1)
  t.deepEqual(
    results.content.map(({ output }: any) => output.done),
    ['1', '2'],
  )
})

test(
  'tools-17: a call that the engine refuses tells the model a code, a sentence and what to do, as a tool ' +
    'that fails does',
  async (t) => {
    const { daemon, model } = await start(t, (_, count) =>
      count === 1
        ? [
            callTool('a', 'no_such_tool'),
            callTool('b', 'peek', { what: 7 }),
            callTool('c', 'emit_output'),
            done('tool_calls'),
          ]
        : [text('ok'), done()],
    )
    await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
    const results: any = model.requests[1]?.messages.at(-1)
    const errors = results.content.map(({ output }: any) => output.error)
    t.deepEqual(
      errors.map(({ code }: any) => code),
      ['tool_not_found', 'call_input_invalid', 'output_empty'],
    )
    t.is(errors[0].message, 'There is no tool named no_such_tool.')
    t.deepEqual(errors[1].issues, [{ path: 'what', rule: 'must be a string' }])
    t.true(errors.every(({ action }: any) => typeof action === 'string'))
  },
)

test('runs-29: cancel really stops the work, ends the run once, and refuses a run that ended otherwise', async (t) => {
  const { daemon, world } = await start(t, ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('slow')
      ? [callTool('c', 'slow_pay'), done('tool_calls')]
      : [text('fine'), done()],
  )
  const entered = new Promise<void>((resolve) => {
    world.entered = resolve
  })
  const { run_id } = await submit(daemon, 's1', 'slow')
  const { run_id: queued } = await submit(daemon, 's1', 'other')
  await entered
  const answer = await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  t.is(answer.body.status, 'cancelled')
  t.deepEqual(world.calls, ['slow_pay:begin', 'slow_pay:aborted'])
  t.is((await daemon.request('POST', `/v1/runs/${run_id}/cancel`)).status, 200)
  await until(daemon, queued, 'completed')
  t.deepEqual(codeOf(await daemon.request('POST', `/v1/runs/${queued}/cancel`)), [409, 'run_state_conflict'])
  t.is((await eventTypes(daemon, run_id)).filter((type) => type === 'cancelled').length, 1)
  t.is((await outcomes(daemon))[0].state, 'failed')
})

test('interrupt ends the active run and the queue goes on; end closes the session', async (t) => {
  const { daemon, world, model } = await start(t, ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('slow')
      ? [callTool('c', 'slow'), done('tool_calls')]
      : [text('fine'), done()],
  )
  const entered = () =>
    new Promise<void>((resolve) => {
      world.entered = resolve
    })
  t.false((await daemon.request('POST', '/v1/sessions/s1/interrupt')).body.interrupted)
  let reached = entered()
  const { run_id } = await submit(daemon, 's1', 'slow')
  const { run_id: next } = await submit(daemon, 's1', 'next')
  await reached
  t.true((await daemon.request('POST', '/v1/sessions/s1/interrupt')).body.interrupted)
  t.is((await until(daemon, run_id, 'interrupted')).status, 'interrupted')
  await until(daemon, next, 'completed')
  t.deepEqual(unpaired(model.requests.at(-1)!), [])
  reached = entered()
  const { run_id: active } = await submit(daemon, 's1', 'slow')
  const { run_id: behind } = await submit(daemon, 's1', 'behind')
  await reached
  const ended = await daemon.request('POST', '/v1/sessions/s1/end', { reason: 'enough' })
  t.true(ended.body.snapshot.agent.closed_at_ms > 0)
  t.is((await until(daemon, active, 'interrupted')).status, 'interrupted')
  t.is((await until(daemon, behind, 'cancelled')).status, 'cancelled')
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'x' })), [409, 'session_ended'])
  t.is((await daemon.request('POST', '/v1/sessions', { session_id: 's1' })).status, 201)
  await until(daemon, (await submit(daemon, 's1', 'again')).run_id, 'completed')
})

test('runs that wait can be cancelled and interrupted', async (t) => {
  const { daemon } = await start(t, () => [callTool('c', 'mcp__pay'), done('tool_calls')])
  const first = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'waiting_for_approval')
  t.is((await daemon.request('POST', `/v1/runs/${first.run_id}/cancel`)).body.status, 'cancelled')
  const second = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'waiting_for_approval')
  t.true((await daemon.request('POST', '/v1/sessions/s1/interrupt')).body.interrupted)
  t.is((await until(daemon, second.run_id, 'interrupted')).status, 'interrupted')
})

test('runs-43: a stop in good order leaves runs to the next life: once is unknown or known, read is repeated', async (t) => {
  const play: Play = ({ messages }) => {
    const last = JSON.stringify(messages.at(-1))
    return last.includes('go')
      ? [callTool('c', last.includes('pay') ? 'slow_pay' : 'slow'), done('tool_calls')]
      : [text('went on'), done()]
  }
  const world = createWorld()
  const model = scriptedProvider(play)
  const options = {
    plugins: [effectTools(world), model.plugin],
    config: { ...model.config, runs: { drain_ms: 50, stop_grace_ms: 300 } },
  }
  const first = await startTestDaemon(t, options)
  await openSession(first, 's1')
  await openSession(first, 's2')
  const pay = await submit(first, 's1', 'go pay')
  const look = await submit(first, 's2', 'go look')
  while (world.calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await first.stop()
  t.is(world.calls.filter((call) => call.endsWith('aborted')).length, 2)
  const again = new Promise<void>((resolve) => {
    world.entered = resolve
  })
  const second = await startTestDaemon(t, { ...options, root: first.root })
  t.is((await until(second, pay.run_id, 'completed')).outputs[0].content, 'went on')
  await again
  t.is((await second.request('GET', `/v1/runs/${look.run_id}`)).body.status, 'running')
  const recoveries = (await second.request('GET', '/v1/sessions/s1/events?limit=1000')).body.session.journal.flatMap(
    ({ type, entry }: any) => (type === 'recovery' ? [entry.reason] : []),
  )
  t.deepEqual(recoveries, ['clean_stop'])
  t.is(world.calls.filter((call) => call === 'slow_pay:begin').length, 1)
  t.is(world.calls.filter((call) => call === 'slow:begin').length, 2)
  for (const request of model.requests) t.deepEqual(unpaired(request), [])
})

test('many messages to a busy session each end in a run of their own, in order', async (t) => {
  const { daemon } = await start(t, ({ messages }) => [text(`re ${JSON.stringify(messages.at(-1)).length}`), done()])
  const ids: string[] = []
  const messages = volume(30, 300)
  for (let n = 0; n < messages; n += 1) ids.push((await submit(daemon, 's1', `message ${n}`)).run_id)
  await until(daemon, ids.at(-1)!, 'completed')
  t.is((await daemon.request('GET', '/v1/runs?session_id=s1&page=true&limit=1')).body.pagination.total_count, messages)
  const starts = await Promise.all(
    ids.slice(-50).map(async (id) => (await daemon.request('GET', `/v1/runs/${id}`)).body.started_at_ms),
  )
  t.deepEqual(
    starts,
    starts.toSorted((a, b) => a - b),
  )
})
