/** What runs are at that execute: models, routes that fail or are full, tools, hooks, and what is made before. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { shippedPlugins } from '../../../../core/shipped.js'
import { RunWorkspaces } from '../../../../plugins/execution/runs/contract.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { done, fails, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { call } from '../../../support/agents.js'
import { freshRoot, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { readExplanation, situation } from '../../../support/explanations.js'
import { createLatch } from '../../../support/latch.js'
import { planned, writeServers } from '../../../support/mcp.js'
import { testPlugin } from '../../../support/plugins.js'
import { openSession, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext, { plugins = [], ...options }: TestDaemonOptions = {}) => {
  const daemon = await startTestDaemon(t, { ...options, plugins: [effectTools(createWorld()), ...plugins] })
  const run = async (session_id: string, content: string, more: JsonObject = {}): Promise<string> => {
    await openSession(daemon, session_id)
    return (await daemon.request('POST', `/v1/sessions/${session_id}/runs`, { content, ...more })).body.run_id
  }
  return Object.assign(daemon, { run })
}

/** A route of a file, to the model of the test. */
const routed = async (t: ExecutionContext, play: Play, route: string, options: TestDaemonOptions = {}) => {
  const root = await freshRoot()
  await mkdir(join(root, 'config'), { recursive: true })
  await writeFile(join(root, 'config', 'routes.toml'), `[routes.r]\ndriver = "scripted"\n${route}`)
  const model = scriptedProvider(play)
  return Object.assign(await start(t, { root, plugins: [model.plugin], ...options }), { asked: model.requests })
}

test('explanations-6: a model that answers, and tools at work, are told with the line that ends them', async (t) => {
  const daemon = await start(t)
  const model = await daemon.run('s1', '/sleep 3600000')
  await (await situation(t, daemon, 'model-call', { id: model, codes: ['model_call'] })).move()
  const tool = await daemon.run('s2', call('slow'))
  await (await situation(t, daemon, 'tool-call', { id: tool, codes: ['tool_call'] })).move()
})

test('explanations-6: a route that fails is told with its reason and the next attempt, and what waits behind it', async (t) => {
  const clock = createLeapingClock()
  const gate = createLatch()
  async function* late() {
    await gate.wait()
    yield* [text('back'), done()]
  }
  const model = scriptedProvider((_, count) => (count < 3 ? [fails(true, 'It is down.')] : late()))
  const runs = { model_retry_base_ms: 60_000, model_retry_max_ms: 60_000 }
  const daemon = await start(t, { clock, plugins: [model.plugin], config: { ...model.config, runs } })
  const id = await daemon.run('s1', 'x')
  await situation(t, daemon, 'route-wait', { id, codes: ['route_wait'] })
  const behind = await daemon.run('s1', 'y')
  await situation(t, daemon, 'queued-behind-route-wait', { id: behind, codes: ['behind_run', 'route_wait'] })
  clock.leap(60_000)
  while (model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  await situation(t, daemon, 'route-wait-again', { id, codes: ['route_wait'] })
  clock.leap(60_000)
  await situation(t, daemon, 'route-asked-again', { id, codes: ['model_call', 'route_wait'] })
  gate.open()
  await until(daemon, id, 'completed')
})

test('explanations-6: a call that its server holds back is no answer that comes, until it is made', async (t) => {
  const clock = createLeapingClock()
  const gate = createLatch()
  async function* late() {
    await gate.wait()
    yield* [text('back'), done()]
  }
  const daemon = await routed(t, (_, count) => (count === 1 ? [fails(true, 'Slower.', 60_000)] : late()), '', { clock })
  await daemon.run('s1', 'x')
  while (daemon.asked.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
  const id = await daemon.run('s2', 'y')
  await situation(t, daemon, 'held-call', { id, codes: ['held_call'] })
  clock.leap(61_000)
  await situation(t, daemon, 'held-call-made', { id, codes: ['model_call'] })
  gate.open()
})

test('explanations-6: a route that fails and is held back is asked again when its server wants to be', async (t) => {
  const clock = createLeapingClock()
  const play: Play = (_, count) => [count === 1 ? fails(true, 'It is down.') : fails(true, 'Slower.', 200_000)]
  const config = { runs: { model_retry_base_ms: 60_000, model_retry_max_ms: 60_000 } }
  const daemon = await routed(t, play, '', { clock, config })
  const id = await daemon.run('s1', 'x')
  while (daemon.asked.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
  await daemon.run('s2', 'y')
  while (daemon.asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  clock.leap(61_000)
  await situation(t, daemon, 'route-wait-held', { id, codes: ['held_call', 'route_wait'] })
  const { subjects } = await readExplanation(daemon, id)
  const [wait, held] = ['route_wait', 'held_call'].map((code) =>
    subjects[0].reasons.find((it: any) => it.code === code),
  )
  t.is(wait.until_ms, held.until_ms)
  const { waiting_for_model_route: shown, model_call_held } = (await daemon.request('GET', `/v1/runs/${id}`)).body
  t.is(shown.next_attempt_at_ms, model_call_held.until_ms)
  t.true(shown.next_attempt_at_ms > clock.now())
})

test('explanations-6: a route that makes no more calls at a time is told, and the call that has its turn', async (t) => {
  const gates = [createLatch(), createLatch()] as const
  async function* late(count: number) {
    await gates[count === 1 ? 0 : 1].wait()
    yield* [text('said'), done()]
  }
  const daemon = await routed(t, (_, count) => late(count), 'max_concurrent_calls = 1\n')
  const first = await daemon.run('s1', 'x')
  await situation(t, daemon, 'route-call', { id: first, codes: ['model_call'] })
  const second = await daemon.run('s2', 'y')
  await situation(t, daemon, 'route-full', { id: second, codes: ['route_full'] })
  const third = await daemon.run('s3', 'z')
  await (await situation(t, daemon, 'route-full-cancelled', { id: third, codes: ['route_full'] })).move()
  gates[0].open()
  await situation(t, daemon, 'route-turn', { id: second, codes: ['model_call'] })
  gates[1].open()
  await until(daemon, second, 'completed')
})

test('explanations-6: a conversation that is summed up', async (t) => {
  const gate = createLatch()
  async function* late() {
    await gate.wait()
    yield* [text('They spoke of ships.'), done()]
  }
  const long = 'lorem ipsum '.repeat(1_000)
  const play: Play = ({ system }) => (system.startsWith('You sum up') ? late() : [text(long), done()])
  const config = { runs: { compact_at_percent: 60 } }
  const daemon = await routed(t, play, 'context_window = 26000\n', { config })
  const ids: string[] = []
  for (let n = 0; n < 8; n += 1) {
    const id = await daemon.run('s1', `${n} ${long}`)
    ids.push(id)
    await new Promise((resolve) => setTimeout(resolve, 60))
    if (daemon.asked.some(({ system }) => system.startsWith('You sum up'))) break
    await until(daemon, id, 'completed')
  }
  await situation(t, daemon, 'compaction', { id: ids.at(-1) ?? '', codes: ['compaction'] })
  gate.open()
})

test('explanations-6: a worktree that is being made', async (t) => {
  const gate = createLatch()
  const slow = testPlugin('slow-worktrees', {
    provides: [RunWorkspaces],
    register: (ctx) =>
      ctx.provide(RunWorkspaces, {
        check: async () => {},
        open: async () => {
          await gate.wait()
          return { path: '/', beside: [] }
        },
        find: () => undefined,
      }),
  })
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'worktrees')
  const daemon = await start(t, { shipped, plugins: [slow] })
  const id = await daemon.run('s1', 'hello', { isolation: 'worktree' })
  await situation(t, daemon, 'worktree', { id, codes: ['worktree'] })
  gate.open()
  await until(daemon, id, 'completed')
})

test('explanations-6: a hook that looks at a call', async (t) => {
  const daemon = await start(t)
  const guard = { name: 'guard', executor: { type: 'command', command: 'sleep 60' } }
  await daemon.request('POST', '/v1/runtime/hooks', { settings: { hooks: { pre_tool_use: [guard] } } })
  const id = await daemon.run('s1', call('peek'))
  await (await situation(t, daemon, 'hook', { id, codes: ['hook'] })).move()
})

test('explanations-6: a run that somebody has asked to end, while its step goes on', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await start(t, { clock, config: { runs: { stop_grace_ms: 60_000 } } })
  const model = await daemon.run('s1', call('hangs'))
  await situation(t, daemon, 'hanging-tool', { id: model, codes: ['tool_call'] })
  const ending = daemon.request('POST', `/v1/runs/${model}/cancel`)
  await situation(t, daemon, 'stopping', { id: model, codes: ['stopping', 'tool_call'] })
  clock.leap(60_000)
  await ending
})

test('explanations-6: tools of a server that is being connected', async (t) => {
  const root = await freshRoot()
  await writeServers(root, { slow: planned({ hangs: 'initialize' }, { required: true, startup_timeout_sec: 600 }) })
  const daemon = await start(t, { root })
  const id = await daemon.run('s1', 'hello')
  await situation(t, daemon, 'tools-arrive', { id, codes: ['tools_arrive'] })
})
