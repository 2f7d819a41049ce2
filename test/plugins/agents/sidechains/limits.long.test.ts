/** How many agents there may be, and how fast they come: each limit at its number, and one above. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import {
  call,
  does,
  endless,
  openAgent,
  resultsIn,
  rowsOf,
  settled,
  spawn,
  startDirected,
  told,
} from '../../../support/agents.js'
import { freshRoot, spawnTestDaemon, type Answer, type Reachable } from '../../../support/daemon.js'
import { codeOf, submit } from '../../../support/runs.js'

/** As many as are wanted work at a time. */
const roomy = {
  max_live_children_per_parent: 999,
  max_live_descendants_per_root: 999,
  max_live_sidechains_per_session: 999,
  max_live_sidechains_global: 999,
}
const tooMany = [409, 'conflict']
const tooFast = [429, 'rate_limited']

/** So many are started, and the next one is refused and leaves nothing. */
const takes = async (
  t: ExecutionContext,
  daemon: Reachable,
  { n, refusal, one }: { n: number; refusal: (number | string)[]; one: () => Promise<Answer> },
) => {
  for (let count = 0; count < n; count += 1) t.is((await one()).status, 200, `${count + 1} of ${n}`)
  const before = (await rowsOf(daemon)).length
  const refused = await one()
  t.deepEqual(codeOf(refused), refusal)
  t.is((await rowsOf(daemon)).length, before)
  return refused
}

test('agents-10: agents stand four deep', async (t) => {
  const daemon = await startDirected(t)
  let above = daemon.parent
  for (let depth = 1; depth <= 4; depth += 1) above = (await spawn(daemon, above)).body.agent_id
  t.deepEqual(codeOf(await spawn(daemon, above)), tooMany)
})

test('agents-10: six children of one agent work at a time', async (t) => {
  const daemon = await startDirected(t)
  const one = () => spawn(daemon, daemon.parent, endless)
  await takes(t, daemon, { n: 6, refusal: tooMany, one })
  const other = await openAgent(daemon, 's2')
  t.is((await spawn(daemon, other, endless)).status, 200)
  const [run] = (await daemon.request('GET', '/v1/runs?status=running&limit=1')).body
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
})

for (const [limit, n] of [
  ['max_live_descendants_per_root', 24],
  ['max_live_sidechains_per_session', 24],
] as const)
  test(`agents-10: ${limit} is 24 at first, whichever agents start them`, async (t) => {
    const other =
      limit === 'max_live_descendants_per_root' ? 'max_live_sidechains_per_session' : 'max_live_descendants_per_root'
    const daemon = await startDirected(t, { [other]: 100 })
    const parents = [daemon.parent]
    for (let count = 0; count < 4; count += 1)
      parents.push((await spawn(daemon, daemon.parent, told('/say hi'))).body.agent_id)
    for (const parent of parents.slice(1)) await settled(daemon, parent)
    let next = 0
    const one = () => spawn(daemon, parents[(next += 1) % 5] ?? '', endless)
    await takes(t, daemon, { n, refusal: tooMany, one })
  })

test('agents-10: max_live_sidechains_global counts those of all roots', async (t) => {
  const daemon = await startDirected(t, { max_live_sidechains_global: 3 })
  const roots = await Promise.all(['r1', 'r2', 'r3', 'r4'].map((id) => openAgent(daemon, id)))
  const one = () => spawn(daemon, roots.pop() ?? '', endless)
  await takes(t, daemon, { n: 3, refusal: tooMany, one })
})

test('agents-10: a run starts six agents', async (t) => {
  const daemon = await startDirected(t)
  const lines = Array.from({ length: 7 }, (_, n) =>
    call('spawn_agent', { name: `a${n}`, prompt: '/say hi', wait: true }),
  )
  await does(daemon, 's1', lines.join('\n---\n'))
  const results = resultsIn(daemon.asked.findLast(({ messages }) => JSON.stringify(messages).includes('a6')))
  const codes = results.map((output) => output.error?.code ?? output.status)
  t.deepEqual(codes, [...Array.from({ length: 6 }, () => 'completed'), 'conflict'])
  const again = await does(daemon, 's1', call('spawn_agent', { name: 'next', prompt: '/say hi', wait: true }))
  t.is(again.status, 'completed')
  t.is((await rowsOf(daemon)).length, 8, 'another run starts others')
})

for (const [limit, first] of [
  ['max_spawns_per_session_window', 60],
  ['max_spawns_per_profile_window', 60],
  ['max_spawns_global_window', 240],
] as const)
  test(`agents-11: ${limit} is counted within the window, and no longer`, async (t) => {
    const clock = createLeapingClock()
    t.teardown(() => clock.clear())
    const many = {
      ...roomy,
      max_spawns_per_session_window: 999,
      max_spawns_per_profile_window: 999,
      max_spawn_cpu_ms_per_window: 9e8,
    }
    const { [limit as 'max_spawns_per_session_window']: _, ...others } = many
    const daemon = await startDirected(t, others, { clock })
    const refused = await takes(t, daemon, { n: first, refusal: tooFast, one: () => spawn(daemon, daemon.parent) })
    const wait = Number(refused.headers['retry-after'])
    t.true(wait > 0 && wait <= 60)
    const other = await spawn(daemon, await openAgent(daemon, 's2'))
    t.is(other.status, limit === 'max_spawns_per_session_window' ? 200 : 429)
    clock.leap(wait * 1_000)
    t.is((await spawn(daemon, daemon.parent)).status, 200)
  })

test('agents-11: what starts are charged is used up within the window', async (t) => {
  const dear = await startDirected(t, { max_spawn_cost_microusd_per_window: 3_000 })
  await takes(t, dear, { n: 3, refusal: tooFast, one: () => spawn(dear, dear.parent) })
  const slow = await startDirected(t, { max_spawn_cpu_ms_per_window: 5_000, estimated_spawn_cpu_ms: 2_500 })
  await takes(t, slow, { n: 2, refusal: tooFast, one: () => spawn(slow, slow.parent) })
})

test('agents-11: what an agent is told, and how long its answers are, is bounded', async (t) => {
  const daemon = await startDirected(t, { max_spawn_input_tokens_per_request: 100 })
  t.is((await spawn(daemon, daemon.parent, told('x'.repeat(400)))).status, 200)
  t.deepEqual(codeOf(await spawn(daemon, daemon.parent, told('x'.repeat(401)))), tooFast)
  t.deepEqual(codeOf(await spawn(daemon, daemon.parent, told('ä'.repeat(201)))), tooFast, 'bytes are counted')
  const fork_context = {
    parent_assistant_message: 'x'.repeat(200),
    inherited_tool_call_ids: [],
    system_prompt: 'x'.repeat(201),
  }
  t.deepEqual(codeOf(await spawn(daemon, daemon.parent, { fork_context })), tooFast)
  const asks = (max_output_tokens: number) => spawn(daemon, daemon.parent, { generation: { max_output_tokens } })
  t.is((await asks(64_000)).status, 200)
  t.deepEqual(codeOf(await asks(64_001)), tooFast)
})

test('agents-11: later rules that fit a start beat earlier ones, limit by limit', async (t) => {
  const rules = [
    { selector: {}, limits: { max_live_children_per_parent: 1, max_child_depth: 1 } },
    { selector: { session_id: 's1' }, limits: { max_live_children_per_parent: 3 }, label: 'more' },
    { selector: { session_id: 's1', profile: 'plan' }, limits: { max_live_children_per_parent: 0 } },
  ]
  const daemon = await startDirected(t, { rules })
  await takes(t, daemon, { n: 3, refusal: tooMany, one: () => spawn(daemon, daemon.parent, endless) })
  const other = await openAgent(daemon, 's2')
  await takes(t, daemon, { n: 1, refusal: tooMany, one: () => spawn(daemon, other, endless) })
  const child = await spawn(daemon, daemon.parent)
  t.deepEqual(codeOf(child), tooMany)
  const third = await openAgent(daemon, 's3')
  const below = await spawn(daemon, third, told('/say hi'))
  await settled(daemon, below.body.agent_id)
  t.deepEqual(codeOf(await spawn(daemon, below.body.agent_id)), tooMany, 'one deep')
  await settled(daemon, (await spawn(daemon, third, told('/say hi'))).body.agent_id)
  await does(daemon, 's3', call('spawn_agent', { name: 'p', agent_type: 'plan', prompt: '/say hi', wait: true }))
  t.is((await rowsOf(daemon, '?session_id=s3')).length, 1)
})

test('agents-10: limits at once: of twenty that are started together six work', async (t) => {
  const daemon = await startDirected(t)
  const all = await Promise.all(Array.from({ length: 20 }, () => spawn(daemon, daemon.parent, endless)))
  t.deepEqual(all.map(({ status }) => status).toSorted(), [
    ...Array.from({ length: 6 }, () => 200),
    ...Array.from({ length: 14 }, () => 409),
  ])
})

test('agents-10: an agent that waits for its first run has its place, until it is closed or has no parent any more', async (t) => {
  const root = await freshRoot()
  const limit = { max_live_children_per_parent: 3 }
  const daemon = await startDirected(t, limit, { root })
  const one = () => spawn(daemon, daemon.parent)
  await takes(t, daemon, { n: 3, refusal: tooMany, one })
  const quotas = async (on = daemon): Promise<number> =>
    (await on.request('GET', '/v1/runtime/subagent-policy/quotas')).body.live_sidechains
  t.is(await quotas(), 3)
  const waiting: any[] = (await rowsOf(daemon)).filter(({ parent_agent_id }: any) => parent_agent_id !== undefined)
  t.deepEqual(
    waiting.map(({ has_runtime, status }) => [has_runtime, status]),
    Array.from({ length: 3 }, () => [false, 'idle']),
  )
  const runs = await Promise.all(waiting.map(({ session_id }) => submit(daemon, session_id, '/sleep 3600000')))
  t.deepEqual(codeOf(await one()), tooMany, 'runs that are submitted later take no place of others')
  for (const { run_id } of runs) await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  t.is(await quotas(), 0)
  const again = await takes(t, daemon, { n: 3, refusal: tooMany, one })
  t.regex(again.body.detail, /3 agents of this one are at work, or have not begun/u)
  await daemon.stop()
  const next = await startDirected(t, limit, { root })
  t.is(await quotas(next), 3, 'those that have had a run are not counted after a restart')
  const [idle] = (await rowsOf(next, '?status=idle')).filter(
    (row: any) => row.parent_agent_id !== undefined && waiting.every(({ agent_id }) => agent_id !== row.agent_id),
  )
  await next.request('POST', `/v1/sessions/${idle.session_id}/end`)
  t.is(await quotas(next), 2)
  await next.request('POST', '/v1/sessions/s1/end')
  t.is(await quotas(next), 0, 'nobody has them begin')
})

test('agents-11: each limit has a flag and a variable, and these beat the file', async (t) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config', 'sidechains.toml'), 'max_spawns_per_run = 3\nmax_live_children_per_parent = 4\n')
  const daemon = await spawnTestDaemon(t, {
    root,
    flags: ['--max-child-depth', '2'],
    env: { SERVICE_MAX_LIVE_CHILDREN_PER_PARENT: '5', SERVICE_SPAWN_RATE_WINDOW_MS: '1000' },
  })
  const { limits } = (await daemon.request('GET', '/v1/runtime/subagent-policy/quotas')).body
  t.like(limits, {
    max_child_depth: 2,
    max_live_children_per_parent: 5,
    spawn_rate_window_ms: 1_000,
    max_spawns_per_run: 3,
    max_live_sidechains_global: 128,
  })
})
