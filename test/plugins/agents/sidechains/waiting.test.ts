/** Agents that wait for agents: their places are others' meanwhile, and a restart begins the wait again. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { agentOf, call, directed, does, openAgent, resultsIn, rowsOf, spawn, told } from '../../../support/agents.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { volume } from '../../../support/volume.js'

const wide = {
  max_live_sidechains_global: 500,
  max_spawns_per_profile_window: 9_999,
  max_spawns_global_window: 9_999,
  max_spawn_cpu_ms_per_window: 9_999_999,
}
const start = async (t: ExecutionContext, runs: JsonObject = {}, more = {}) => {
  const model = directed()
  const config = { ...model.config, sidechains: wide, runs }
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config, ...more })
  return Object.assign(daemon, { asked: model.requests, parent: await openAgent(daemon) })
}
const spawns = (prompt: string, more: object = {}): string => call('spawn_agent', { name: 'part', prompt, ...more })

test('agents-15: spawn_agent goes on at once, or waits for the answer', async (t) => {
  const daemon = await start(t)
  await does(daemon, 's1', spawns('/say one'), spawns('/say two', { wait: true, nickname: 'Two', team_name: 'red' }))
  const [first, second] = resultsIn(daemon.asked.findLast(({ messages }) => messages.length === 3))
  t.like(first, { run_in_background: true, isolation: 'shared', name: 'part', retention: 'retain' })
  t.like(second, {
    run_in_background: false,
    status: 'completed',
    final_output: 'two',
    team_name: 'red',
    nickname: 'Two',
  })
  t.like(await agentOf(daemon, second.agent_id), { parent: daemon.parent, status: 'completed' })
  t.regex((await agentOf(daemon, second.agent_id)).spawned_by_run_id, /^run_/u)
})

test('agents-14: one waits for all, or for any, and is told what is not over in time', async (t) => {
  const daemon = await start(t)
  const slow = await spawn(daemon, daemon.parent, told('/sleep 3600000'))
  const quick = await spawn(daemon, daemon.parent, told('/say hi'))
  const agent_ids = [slow, quick].map(({ body }) => body.agent_id)
  await does(
    daemon,
    's1',
    call('wait_agent', { agent_ids, mode: 'any' }),
    '---',
    call('wait_agent', { timeout_ms: 50 }),
  )
  const [any, all] = resultsIn(daemon.asked.at(-1))
  t.is(any.agents[1].final_output, 'hi')
  t.false(any.timed_out, 'one of them is done')
  t.is(any.agents[1].last_run_status, 'completed')
  t.like(all, { timed_out: true, agents: [{ agent_id: agent_ids[0], has_runtime: true, status: 'running' }] })
  t.is((await agentOf(daemon, agent_ids[0])).settled_at_ms, undefined, 'it goes on')
})

test('runs-55, agents-14: many that wait leave their two places to their children, and all end', async (t) => {
  const daemon = await start(t, { max_concurrent_runs: 2 })
  const many = volume(30, 300)
  const runs = await Promise.all(
    Array.from({ length: many }, async (_, n) => {
      await openSession(daemon, `p${n}`)
      return submit(daemon, `p${n}`, spawns('/say child', { wait: true, timeout_ms: 110_000 }))
    }),
  )
  for (const { run_id } of runs) await until(daemon, run_id, 'completed')
  const { counts } = await rowsOf(daemon, '?page=true')
  t.like(counts, { total: 2 * many + 1, completed: 2 * many, with_runtime: 0 })
  const results = daemon.asked.flatMap((one) => resultsIn(one))
  t.is(results.filter(({ final_output }) => final_output === 'child').length, many)
})

test('runs-55: with one place agents four deep wait for each other, and all end', async (t) => {
  const daemon = await start(t, { max_concurrent_runs: 1 })
  let script = '/say deepest'
  for (let n = 0; n < 4; n += 1) script = spawns(script, { wait: true })
  t.is((await does(daemon, 's1', script)).status, 'completed')
  t.like((await rowsOf(daemon, '?page=true')).counts, { total: 5, completed: 5 })
})

test('runs-55: a run that waits for its place is stopped at once', async (t) => {
  const daemon = await start(t, { max_concurrent_runs: 1 })
  const { run_id } = await submit(daemon, 's1', spawns('/sleep 3600000', { wait: true, timeout_ms: 300 }))
  const child = async () => (await rowsOf(daemon)).find(({ path }: any) => path === '/part')
  for (let n = 0; n < 2_000 && (await child())?.active_run_id === undefined; n += 1)
    await new Promise((done) => setTimeout(done, 5))
  await new Promise((done) => setTimeout(done, 600))
  t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).body.status, 'running', 'its child has the only place')
  const began = performance.now()
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})
  await until(daemon, run_id, 'cancelled')
  t.true(performance.now() - began < 30_000, 'not with its child')
  await daemon.request('POST', `/v1/runs/${(await child()).active_run_id}/cancel`, {})
  t.is((await does(daemon, 's1', '/say next')).status, 'completed', 'the place is free again')
})

test('agents-14, agents-15: a restart begins the wait again, and starts no other agent', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, {}, { root })
  const { run_id } = await submit(daemon, 's1', spawns('/sleep 700\n/say late', { wait: true }))
  for (let n = 0; n < 2_000 && (await rowsOf(daemon)).length < 2; n += 1)
    await new Promise((done) => setTimeout(done, 5))
  const began = performance.now()
  await daemon.stop()
  t.true(performance.now() - began < 30_000, 'it waits for no agent')
  const again = await start(t, {}, { root })
  await until(again, run_id, 'completed')
  t.is((await rowsOf(again)).length, 2)
  t.like(resultsIn(again.asked.findLast(({ messages }) => messages.length === 3))[0], { final_output: 'late' })
  t.deepEqual(
    [...daemon.log, ...again.log].filter(({ level }) => level === 'error'),
    [],
  )
})

test('agents-14: nobody waits for itself, or for an agent above it', async (t) => {
  const daemon = await start(t)
  const child = (await spawn(daemon, daemon.parent)).body
  for (const agent_id of [daemon.parent, child.agent_id]) {
    await does(daemon, child.session_id, call('wait_agent', { agent_ids: [agent_id] }))
    t.is(resultsIn(daemon.asked.at(-1))[0].error.code, 'agent_waits_above')
  }
})
