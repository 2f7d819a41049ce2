import test from 'ava'
import { defineErrors, digest, object, type Json } from '../../../../core/plugin.js'
import { prepare } from '../../../../plugins/execution/engine/tool-call.js'
import type { CallState } from '../../../../plugins/execution/engine/thread/turn.js'
import { defineTool, Tools, type Effect, type Tool } from '../../../../plugins/execution/tools/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { testPlugin } from '../../../support/plugins.js'

const input = object({})
const tool = (name: string, more: Partial<Tool>): Tool =>
  defineTool({
    name,
    description: 'Does one thing.',
    input,
    effect: 'read',
    parallel: true,
    timeout_ms: 5000,
    sandbox: 'inherited',
    run: () => ({ type: 'result', output: {} }),
    ...more,
  })

/** Runs one turn with these calls; gives their outcomes in the order of the calls, whichever ended first. */
const outcomesOf = async (
  t: any,
  { tools, calls, limits = {} }: { tools: Tool[]; calls: string[]; limits?: Record<string, number> },
): Promise<any[]> => {
  const model = scriptedProvider((_, count) =>
    count === 1 ? [...calls.map((name, at) => callTool(`c${at}`, name)), done('tool_calls')] : [text('end'), done()],
  )
  const plugin = testPlugin('acts', {
    register: (ctx) => ctx.contribute(Tools, ...tools),
  })
  const daemon = await startTestDaemon(t, {
    plugins: [plugin, model.plugin],
    config: { ...model.config, runs: { stop_grace_ms: 100 }, tools: { limits } },
  })
  await openSession(daemon)
  await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events?limit=1000')
  const ended = body.session.journal.flatMap(({ type, entry }: any) => (type === 'outcome' ? [entry] : []))
  return calls.flatMap((_, at) => ended.filter(({ tool_call_id }: any) => tool_call_id === `c${at}`))
}

test(
  'tools-20: a call that ends when its time is over is late; one that does not end has failed, or is ' +
    'unknown if it acts',
  async (t) => {
    const hangs = (name: string, effect: Effect): Tool =>
      tool(name, { effect, permission: 'allow', parallel: false, timeout_ms: 30, run: () => new Promise(() => {}) })
    const yields = tool('yields', {
      timeout_ms: 30,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new TypeError('stopped')))),
    })
    const outcomes = await outcomesOf(t, {
      tools: [yields, hangs('looks', 'read'), hangs('pays', 'once')],
      calls: ['yields', 'looks', 'pays'],
    })
    const lost = 'The tool did not end when it was told to; what it did is unknown.'
    t.deepEqual(
      outcomes.map(({ state, output }) => [state, output.error.code, output.error.message]),
      [
        ['failed', 'call_timed_out', 'The tool was stopped after 30 ms.'],
        ['failed', 'call_not_ended', lost],
        ['unknown', 'call_not_ended', lost],
      ],
    )
  },
)

/** A tool that notes how many of its kind work at the same time. */
const counting = (name: string, parallel: boolean, seen: { now: number; most: number }): Tool =>
  tool(name, {
    parallel,
    run: async () => {
      seen.now += 1
      seen.most = Math.max(seen.most, seen.now)
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.now -= 1
      return { type: 'result', output: {} }
    },
  })

test('calls work side by side up to the limit, and one after the other if one of them must be alone', async (t) => {
  const together = { now: 0, most: 0 }
  await outcomesOf(t, {
    tools: [counting('side', true, together)],
    calls: ['side', 'side', 'side', 'side', 'side'],
    limits: { max_parallel_tools: 3 },
  })
  t.is(together.most, 3)
  const alone = { now: 0, most: 0 }
  await outcomesOf(t, {
    tools: [counting('side', true, alone), counting('alone', false, alone)],
    calls: ['side', 'side', 'alone', 'side'],
  })
  t.is(alone.most, 1)
})

/** Turns of the event loop from the first time that `run` is called to the last. */
const countTurns = () => {
  const seen = { turns: 0, first: -1, last: -1 }
  const count = (): void => {
    seen.turns += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const run = (): void => {
    if (seen.first < 0) seen.first = seen.turns
    seen.last = seen.turns
  }
  return { run, between: () => seen.last - seen.first, stop: () => clearImmediate(next) }
}

for (const parallel of [true, false])
  test(`others are served between large outputs of calls that wait for nothing, parallel ${parallel}`, async (t) => {
    const counted = countTurns()
    t.teardown(counted.stop)
    const large = tool('large', {
      parallel,
      run: () => {
        counted.run()
        return { type: 'result', output: { content: 'line\n'.repeat(8000) } }
      },
    })
    const calls = Array.from({ length: 60 }, () => 'large')
    await outcomesOf(t, { tools: [large], calls })
    t.true(counted.between() >= 40, `${counted.between()} turns`)
  })

test('approvals-19: an approved input is compared with the one that was approved before the call is made', (t) => {
  const parts: any = { context: { tools: { find: () => tool('pay', {}), refusal: () => undefined } } }
  const outcome = (state: CallState, given = parts): unknown => {
    const ready: any = prepare(
      given,
      { part: { type: 'tool_call', id: 'c1', name: 'pay', input: {} }, input: {}, state },
      'key',
    )
    return ready.output === undefined ? 'ready' : ready.output.error.code
  }
  t.is(outcome({ type: 'ready', input: {}, digest: digest({}) }), 'ready')
  t.is(outcome({ type: 'ready', input: {}, digest: digest({ amount: 1 }) }), 'call_input_changed')
  t.is(outcome({ type: 'ready', input: { amount: 1 } }), 'call_input_invalid')
  t.is(
    outcome(
      { type: 'ready', input: {} },
      { context: { tools: { find: () => undefined, isOff: () => false, refusal: () => undefined } } },
    ),
    'tool_not_found',
  )
})

test('a run that the daemon itself cannot drive fails after some attempts instead of trying for ever', async (t) => {
  let broken = false
  const odd: Tool = {
    ...tool('odd', {}),
    get description() {
      if (broken) throw new TypeError('secret detail')
      return 'Is odd.'
    },
  }
  const model = scriptedProvider(() => [text('end'), done()])
  const plugin = testPlugin('acts', {
    register: (ctx) => ctx.contribute(Tools, odd),
  })
  const daemon = await startTestDaemon(t, { plugins: [plugin, model.plugin], config: model.config })
  await openSession(daemon)
  broken = true
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'failed')
  t.regex(run.error, /^engine_fault: /u)
  t.false(JSON.stringify(run).includes('secret detail'))
  t.is(model.requests.length, 0)
})

test('tools-19: an output nested too deep fails its call, and the run goes on', async (t) => {
  const nested: Json = JSON.parse('['.repeat(6_000) + ']'.repeat(6_000))
  const deep = tool('deep', { run: () => ({ type: 'result', output: nested }) })
  const [outcome] = await outcomesOf(t, { tools: [deep], calls: ['deep'] })
  t.is(outcome.state, 'failed')
  t.regex(JSON.stringify(outcome.output), /tool_failed/u)
})

test('tools-35: a tool that returns no outcome has failed, and the run goes on', async (t) => {
  const returned: unknown[] = [
    'three',
    undefined,
    null,
    { output: 3 },
    { type: 'done' },
    { type: 'unknown' },
    { type: 'ask', ask: { questions: 'Which one?' } },
    { type: 'result', output: 3, apply: 5 },
    { type: 'result', output: 3, used: { route: 5 } },
  ]
  const tools = returned.map((what, at) => tool(`returns_${at}`, { run: () => what as never }))
  const outcomes = await outcomesOf(t, { tools, calls: tools.map(({ name }) => name) })
  t.deepEqual(
    outcomes.map(({ state, output }) => [state, output.error.code]),
    returned.map(() => ['failed', 'tool_failed']),
  )
})

test('tools-35: an output that is no JSON has failed its call, and the run goes on', async (t) => {
  const circle: { self?: unknown } = {}
  circle.self = circle
  const outputs: unknown[] = [3n, circle, { toJSON: () => JSON.parse('{') }]
  const tools = outputs.map((output, at) =>
    tool(`returns_${at}`, { run: () => ({ type: 'result', output: output as Json }) }),
  )
  const outcomes = await outcomesOf(t, { tools, calls: tools.map(({ name }) => name) })
  t.deepEqual(
    outcomes.map(({ state, output }) => [state, output.error.code]),
    outputs.map(() => ['failed', 'tool_failed']),
  )
})

test('tools-35: a tool that refuses with a problem is told in its words, one that throws is not', async (t) => {
  const { none_left } = defineErrors({
    none_left: { status: 409, domain: 'x', detail: 'There is none left.', action: 'Bring more.' },
  })
  const throwing = (name: string, thrown: unknown) =>
    tool(name, {
      run: () => {
        throw thrown
      },
    })
  const outcomes = await outcomesOf(t, {
    tools: [throwing('refuses', none_left()), throwing('fails', new TypeError('the inside'))],
    calls: ['refuses', 'fails'],
  })
  t.deepEqual(
    outcomes.map(({ state, output: { error } }) => [state, error.code, error.message]),
    [
      ['failed', 'none_left', 'There is none left.'],
      ['failed', 'tool_failed', 'The tool failed.'],
    ],
  )
})
