import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { budgetOf, createCalibration } from '../../../../../plugins/execution/engine/prompt/budget.js'
import type { ContextWindow, ModelRequest } from '../../../../../plugins/execution/models/contract.js'
import { windowOf } from '../../../../../plugins/execution/models/bounds/context-window.js'
import { contextWindow as claude } from '../../../../../plugins/providers/anthropic/models.js'
import { contextWindow as gemini } from '../../../../../plugins/providers/google/models.js'
import { contextWindow as gpt, grok as grokModels } from '../../../../../plugins/providers/openai/models.js'
import { vendors } from '../../../../../plugins/providers/openai-compatible/vendors.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'
import { openStream } from '../../../../support/sse.js'

const called = { route_id: 'a', model: 'm', session_id: 's1' }
const request = (more: Partial<ModelRequest> = {}) => ({ model: 'm', system: '', tools: [], generation: {}, ...more })
const route = (window: ContextWindow) => ({ route_id: 'a', context_window: () => window })

test('prompt-3: the window is that of the route, else what its provider knows of the model, else a cautious number', (t) => {
  const of = (own?: number) => windowOf({ own, usual: 32_000, provider: claude })
  t.deepEqual(of()('claude-opus-4-6'), { tokens: 200_000, answer: 64_000 })
  t.deepEqual(of(50_000)('claude-opus-4-6'), { tokens: 50_000, answer: 64_000 })
  t.deepEqual(of()('another'), { tokens: 32_000, guessed: true })
  t.deepEqual(of(9_000)('another'), { tokens: 9_000 })
  t.is(gpt('gpt-5.4')?.tokens, 400_000)
  t.is(gpt('ft:gpt-4o-mini:me')?.tokens, 128_000)
  t.deepEqual([gpt('o3')?.tokens, gpt('unheard')], [200_000, undefined])
  t.deepEqual([gemini('gemini-2.5-flash')?.tokens, gemini('gemma-3')], [1_048_576, undefined])
  t.deepEqual(
    vendors.map(({ context_window, default_model = '' }) => context_window?.(default_model)?.tokens),
    [128_000],
  )
  const grok = grokModels.contextWindow
  t.deepEqual(
    ['grok-4-fast-reasoning', 'grok-4', 'grok-3'].map((model) => grok(model).tokens),
    [2_000_000, 256_000, 131_072],
  )
})

test('prompt-4: the answer has its room, what stands beside the conversation is counted, and a route without a window has no bound', (t) => {
  const calibration = createCalibration()
  const bytes = (window: ContextWindow, more: Partial<ModelRequest> = {}) =>
    budgetOf(route(window), request(more), { calibration, session_id: 's1' })?.bytes
  t.is(bytes({ tokens: 10_000, answer: 2_000 }), 8_000 * 0.95 * 4)
  t.is(bytes({ tokens: 10_000 }, { generation: { max_output_tokens: 1_000 } }), 9_000 * 0.95 * 4)
  t.is(bytes({ tokens: 10_000, answer: 64_000 }), 5_000 * 0.95 * 4, 'half of the window at most')
  t.is(bytes({ tokens: 10_000, answer: 2_000 }, { system: 'é'.repeat(500) }), 8_000 * 0.95 * 4 - 1_000)
  const tools = [{ name: 'peek', description: 'Looks.', parameters: {} }]
  t.is(bytes({ tokens: 10_000, answer: 2_000 }, { tools }), 8_000 * 0.95 * 4 - JSON.stringify(tools[0]).length)
  t.is(budgetOf({ route_id: 'a' }, request(), { calibration, session_id: 's1' }), undefined)
  t.is(budgetOf({ ...route({ tokens: 1 }), context: 'run' }, request(), { calibration, session_id: 's1' }), undefined)
})

test('prompt-4: the estimate learns from what calls of the route and model have used, within bounds', (t) => {
  const calibration = createCalibration()
  const usage = (input_tokens: number) => ({ input_tokens, output_tokens: 1 })
  t.is(calibration.factor(called), 1)
  for (let n = 0; n < 50; n += 1) calibration.learn(called, 40_000, usage(15_000))
  t.true(Math.abs(calibration.factor(called) - 1.5) < 0.01)
  t.is(calibration.factor({ ...called, model: 'other' }), 1)
  const before = calibration.factor(called)
  calibration.learn(called, 100, usage(900))
  calibration.learn(called, 40_000, usage(1))
  calibration.learn(called, 40_000, usage(Number.NaN))
  calibration.learn(called, 40_000, usage(9e9))
  calibration.learn(called, 40_000, undefined)
  t.is(calibration.factor(called), before, 'short calls and what cannot be teach nothing')
  for (let n = 0; n < 90; n += 1) calibration.learn(called, 40_000, usage(90_000))
  t.is(calibration.factor(called), 4)
  for (let n = 0; n < 90; n += 1) calibration.learn(called, 40_000, usage(2_000))
  t.is(calibration.factor(called), 0.5)
  calibration.refused(called, 40_000, 30_000)
  t.is(calibration.factor(called), 3, 'what was refused is too long')
})

test('prompt-10: a refusal tells of its conversation alone, until calls of that one tell what they used', (t) => {
  const calibration = createCalibration()
  const other = { ...called, session_id: 's2' }
  calibration.refused(called, 40_000, 30_000)
  t.deepEqual([calibration.factor(called), calibration.factor(other)], [3, 1])
  t.is(calibration.factor({ ...called, model: 'other' }), 1)
  const usage = { input_tokens: 10_000, output_tokens: 1 }
  for (let n = 0; n < 50; n += 1) calibration.learn(other, 40_000, usage)
  t.is(calibration.factor(called), 3)
  for (let n = 0; n < 50; n += 1) calibration.learn(called, 40_000, usage)
  t.true(calibration.factor(called) < 1.1)
})

const start = async (t: ExecutionContext, window: string, runs: Readonly<Record<string, number>> = {}) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'routes.toml'), `[routes.r]\ndriver = "scripted"\n${window}`)
  const model = scriptedProvider(() => [text('y'.repeat(4_000)), done()])
  const daemon = await startTestDaemon(t, {
    root,
    plugins: [model.plugin],
    config: { runs: { compact_at_percent: 0, ...runs } },
  })
  await openSession(daemon)
  const run = async (content: string): Promise<any> =>
    until(daemon, (await submit(daemon, 's1', content)).run_id, 'completed', 'failed')
  return { daemon, run, asked: model.requests }
}

const cutters: [string, string, Readonly<Record<string, number>>][] = [
  ['context_window of its route', 'context_window = 16_000\n', {}],
  ['runs.context_max_bytes', 'context_window = 1_000_000\n', { context_max_bytes: 30_000 }],
]
for (const [name, window, runs] of cutters)
  test(`prompt-3, prompt-5: a conversation beyond ${name} is cut; who watches and the model are told`, async (t) => {
    const { daemon, run, asked } = await start(t, window, runs)
    const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/sessions/s1/stream' })
    t.teardown(stream.close)
    while (stream.head() === '') await new Promise((resolve) => setTimeout(resolve, 2))
    for (let n = 0; n < 9; n += 1) t.is((await run(`${n} `.padEnd(4_000))).status, 'completed')
    t.is(asked[2]?.messages.length, 5)
    const last = asked.at(-1)
    t.true((last?.messages.length ?? 99) < 14)
    t.regex(JSON.stringify(last?.messages[0]), /Earlier messages of this conversation are not shown/u)
    const cuts = (): any[] => stream.frames.filter(({ data }) => data.trace?.kind.type === 'prompt_cut')
    while (cuts().length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    t.is(cuts()[0].data.trace.kind.left_out > 0, 'context_max_bytes' in runs === false)
  })

test('prompt-6: a turn that is longer than the window of its model fails with its own code; where nobody knows the window, the model decides', async (t) => {
  const known = await start(t, 'context_window = 24_000\n')
  t.regex((await known.run('x'.repeat(100_000))).error, /^context_overflow: .*context_window/u)
  t.is(known.asked.length, 0)
  const small = await start(t, 'context_window = 4_000\n')
  t.regex((await small.run('x')).error, /^context_overflow: the system prompt and the tools take about \d{4,} tokens/u)
  const guessed = await start(t, '')
  t.is((await guessed.run('x'.repeat(600_000))).status, 'completed')
})

test('prompt-12: a small window leaves tools out that most work does without; they are there for a call by name', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  const routes = Object.entries({ small: 8_000, wide: 200_000 }).map(
    ([name, window]) => `[routes.${name}]\ndriver = "scripted"\ncontext_window = ${window}\n`,
  )
  const guessed = '[routes.guessed]\ndriver = "scripted"\n'
  writeFileSync(join(root, 'config', 'routes.toml'), `default_route = "small"\n${routes.join('')}${guessed}`)
  const { plugin, requests } = scriptedProvider(({ messages }) =>
    messages.length === 1 ? [callTool('c1', 'schedule_list'), done('tool_calls')] : [text('ok'), done()],
  )
  const config = { models: { context_window: 8_000 } }
  const daemon = await startTestDaemon(t, { root, plugins: [plugin], config })
  const namesBy = async (provider: string): Promise<string[]> => {
    await openSession(daemon, provider)
    const { body } = await daemon.request('POST', `/v1/sessions/${provider}/runs`, { content: 'Go', provider })
    const run = await until(daemon, body.run_id, 'completed', 'failed')
    t.is(run.status, 'completed', run.error)
    return (requests.at(-1)?.tools ?? []).map(({ name }) => name)
  }
  const small = await namesBy('small')
  const [result] = requests.at(-1)?.messages.at(-1)?.content ?? []
  t.deepEqual(JSON.parse(JSON.stringify(result)).output, { schedules: [] })
  const wide = await namesBy('wide')
  t.deepEqual(await namesBy('guessed'), wide, 'nobody has said it')
  for (const name of ['read_file', 'edit_file', 'bash', 'web_fetch', 'todo_write', 'ask_user_question', 'task_output'])
    t.true(small.includes(name), name)
  const left = wide.filter((name) => !small.includes(name))
  for (const name of ['board_draw', 'spawn_agent', 'schedule_list', 'task_update']) t.true(left.includes(name), name)
  const { body } = await daemon.request('GET', '/v1/status')
  const told = body.health.warnings.filter(({ code }: { code: string }) => code === 'context_window_small')
  t.like(told, [{ severity: 'info', related_id: 'small' }])
  // Two are for an operator, whom this session has none of.
  t.regex(told[0].message, new RegExp(`not told of ${left.length + 2} tools: .* 8000 tokens`, 'u'))
})
