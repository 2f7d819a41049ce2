/** Each limit of agents one below, at, and one above its number, and to the millisecond over the edge of the window. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { call, directed, does, endless, openAgent, resultsIn, rowsOf, spawn, told } from '../../../support/agents.js'
import { startTestDaemon, type Answer } from '../../../support/daemon.js'
import { codeOf, until } from '../../../support/runs.js'

const tooMany = [409, 'conflict']
const tooFast = [429, 'rate_limited']
const window = 10_000

/** A daemon whose time goes on by leaps alone, and an agent in it. */
const start = async (t: ExecutionContext, sidechains: JsonObject) => {
  const clock = createLeapingClock({ still: true })
  t.teardown(() => clock.clear())
  const model = directed()
  const config: { [key: string]: JsonObject } = {
    ...model.config,
    sidechains: { spawn_rate_window_ms: window, max_spawn_cpu_ms_per_window: 1_000_000, ...sidechains },
  }
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config, clock })
  const parent = await openAgent(daemon)
  const quotas = async (): Promise<any> => (await daemon.request('GET', '/v1/runtime/subagent-policy/quotas')).body
  const started = async (): Promise<number> => (await rowsOf(daemon)).filter((row: any) => row.parent_agent_id).length
  const one = (body: object = {}): Promise<Answer> => spawn(daemon, parent, body)
  return Object.assign(daemon, { clock, parent, quotas, started, one, asked: model.requests })
}
type Daemon = Awaited<ReturnType<typeof start>>

/** The dry run says the same as the start, and what is refused leaves nothing. */
const refused = async (t: ExecutionContext, daemon: Daemon, body: object, refusal: readonly unknown[]) => {
  const before = await daemon.started()
  const answer = await daemon.one(body)
  t.deepEqual(codeOf(answer), refusal)
  t.is(await daemon.started(), before)
  const explained = await daemon.request('POST', `/v1/agents/${daemon.parent}/sidechains/explain`, body)
  t.like(explained.body, { allowed: false, code: refusal[1] })
  return answer
}
const taken = async (t: ExecutionContext, daemon: Daemon, body: object, what: string): Promise<any> => {
  const explained = await daemon.request('POST', `/v1/agents/${daemon.parent}/sidechains/explain`, body)
  t.is(explained.body.allowed, true, `${what}: ${explained.body.reason}`)
  const answer = await daemon.one(body)
  t.is(answer.status, 200, `${what}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Runs of an agent that works without an end. */
const end = async (t: ExecutionContext, daemon: Daemon, session_id: string): Promise<void> => {
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  t.is((await until(daemon, run.run_id, 'cancelled')).status, 'cancelled')
}

for (const limit of [
  'max_live_children_per_parent',
  'max_live_descendants_per_root',
  'max_live_sidechains_per_session',
  'max_live_sidechains_global',
])
  test(`agents-10: ${limit} is a number of agents that work, and the end of one makes room for one`, async (t) => {
    for (const most of [0, 1, 3]) {
      const daemon = await start(t, { [limit]: most })
      const made: any[] = []
      for (let n = 1; n <= most; n += 1) made.push(await taken(t, daemon, endless, `${n} of ${most}`))
      t.is((await daemon.quotas()).live_sidechains, most)
      await refused(t, daemon, endless, tooMany)
      if (most === 0) continue
      daemon.clock.leap(window)
      await refused(t, daemon, endless, tooMany)
      await end(t, daemon, made[0].session_id)
      t.is((await daemon.quotas()).live_sidechains, most - 1)
      made.push(await taken(t, daemon, endless, 'the place of one that ended'))
      await refused(t, daemon, endless, tooMany)
      for (const { session_id } of made.slice(1)) await end(t, daemon, session_id)
    }
  })

for (const most of [0, 1, 3])
  test(`agents-10: agents stand ${most} deep where max_child_depth is ${most}`, async (t) => {
    const daemon = await start(t, { max_child_depth: most })
    let { parent } = daemon
    for (let depth = 1; depth <= most; depth += 1) {
      const made = await spawn(daemon, parent)
      t.is(made.status, 200, `${depth} of ${most}`)
      parent = made.body.agent_id
    }
    t.deepEqual(codeOf(await spawn(daemon, parent)), tooMany)
    t.is(await daemon.started(), most)
  })

test('agents-10: a run starts as many agents as max_spawns_per_run, whichever of its calls', async (t) => {
  for (const most of [0, 2]) {
    const daemon = await start(t, { max_spawns_per_run: most })
    const calls = [0, 1, 2].map((n) => call('spawn_agent', { name: `a${n}`, prompt: '/say hi' }))
    await does(daemon, 's1', ...calls.flatMap((line) => [line, '---']), '/say over')
    const results = resultsIn(daemon.asked.findLast(({ messages }) => JSON.stringify(messages).includes('a2')))
    t.deepEqual(
      results.map(({ error }) => error?.code ?? 'started'),
      [0, 1, 2].map((n) => (n < most ? 'started' : 'conflict')),
    )
    t.is((await daemon.one()).status, 200, 'what no run starts is not counted')
  }
})

/** Limits within a window, with what uses one of three places up. */
const windowed: readonly (readonly [string, JsonObject])[] = [
  ['max_spawns_per_session_window', { max_spawns_per_session_window: 3 }],
  ['max_spawns_per_profile_window', { max_spawns_per_profile_window: 3 }],
  ['max_spawns_global_window', { max_spawns_global_window: 3 }],
  ['max_spawn_cost_microusd_per_window', { max_spawn_cost_microusd_per_window: 3_000 }],
  ['max_spawn_cost_microusd_per_window, one more', { max_spawn_cost_microusd_per_window: 3_999 }],
  ['max_spawn_cpu_ms_per_window', { max_spawn_cpu_ms_per_window: 3_000 }],
  ['max_spawn_cpu_ms_per_window, one more', { max_spawn_cpu_ms_per_window: 3_999 }],
]
for (const [limit, sidechains] of windowed)
  test(`agents-11: ${limit} holds to the last millisecond of the window`, async (t) => {
    const daemon = await start(t, sidechains)
    const { clock } = daemon
    const used = async (count: number): Promise<void> => {
      t.like(await daemon.quotas(), {
        started_in_window: count,
        cost_microusd_in_window: count * 1_000,
        cpu_ms_in_window: count * 1_000,
      })
    }
    for (const n of [1, 2, 3]) {
      await taken(t, daemon, {}, `${n} of 3`)
      await used(n)
      clock.leap(1_000)
    }
    const first = await refused(t, daemon, {}, tooFast)
    t.is(first.headers['retry-after'], String((window - 3_000) / 1_000))
    clock.leap(window - 3_001)
    const last = await refused(t, daemon, {}, tooFast)
    t.is(last.headers['retry-after'], '1')
    await used(3)
    clock.leap(1)
    await used(2)
    await taken(t, daemon, {}, 'the first has left the window')
    await used(3)
    const next = await refused(t, daemon, {}, tooFast)
    t.is(next.headers['retry-after'], '1')
    clock.leap(999)
    await refused(t, daemon, {}, tooFast)
    clock.leap(1)
    await taken(t, daemon, {}, 'the second has left the window')
    clock.leap(window)
    await used(0)
  })

for (const [limit, sidechains] of [
  ['max_spawn_cost_microusd_per_window', { max_spawn_cost_microusd_per_window: 2_999 }],
  ['max_spawn_cpu_ms_per_window', { max_spawn_cpu_ms_per_window: 2_999 }],
] as const)
  test(`agents-11: one less of ${limit} than three starts are charged lets two pass`, async (t) => {
    const daemon = await start(t, sidechains)
    for (const n of [1, 2]) await taken(t, daemon, {}, `${n} of 2`)
    await refused(t, daemon, {}, tooFast)
  })

for (const sidechains of [
  { max_spawns_per_session_window: 0 },
  { max_spawns_per_profile_window: 0 },
  { max_spawns_global_window: 0 },
  { max_spawn_cost_microusd_per_window: 999 },
  { max_spawn_cpu_ms_per_window: 999 },
])
  test(`agents-11: nobody is told to wait where waiting does not help: ${Object.keys(sidechains).join('')}`, async (t) => {
    const daemon = await start(t, sidechains)
    t.is((await refused(t, daemon, {}, tooFast)).headers['retry-after'], undefined)
  })

test('agents-11: starts of a project are those of its members and of agents below them', async (t) => {
  const rules = [{ selector: { project_id: 'b' }, limits: { max_spawns_per_project_window: 0 } }]
  const daemon = await start(t, { max_spawns_per_project_window: 2, rules })
  const join = async (project_id: string, session_id: string): Promise<void> => {
    await daemon.request('POST', '/v1/projects', { project_id, display_name: project_id })
    const member = { member_id: session_id, member_kind: 'session', display_name: session_id, session_id }
    t.is((await daemon.request('POST', `/v1/projects/${project_id}/members`, member)).status, 200)
  }
  const { agent_id } = await taken(t, daemon, {}, 'before the project')
  await join('a', 's1')
  await taken(t, daemon, {}, 'one of its member')
  const child = (await spawn(daemon, daemon.parent)).body.agent_id
  t.deepEqual((await daemon.quotas()).projects_in_window, [{ project_id: 'a', started: 2, most: 2 }])
  t.is((await refused(t, daemon, {}, tooFast)).headers['retry-after'], String(window / 1_000))
  t.deepEqual(codeOf(await spawn(daemon, child)), tooFast, 'below a member')
  t.is((await spawn(daemon, agent_id)).status, 200, 'started before its parent was a member')
  const other = await openAgent(daemon, 's2')
  t.is((await spawn(daemon, other)).status, 200)
  await join('b', 's2')
  t.deepEqual(codeOf(await spawn(daemon, other)), tooFast, 'a rule for the project')
})

test('agents-11: who must wait for several starts to leave the window is told so', async (t) => {
  const rules = [{ selector: { session_id: 's2' }, limits: { estimated_spawn_cost_microusd: 2_000 } }]
  const daemon = await start(t, { max_spawn_cost_microusd_per_window: 3_000, rules })
  for (const n of [1, 2, 3]) {
    await taken(t, daemon, {}, `${n} of 3`)
    daemon.clock.leap(1_000)
  }
  const other = await openAgent(daemon, 's2')
  const answer = await spawn(daemon, other)
  t.deepEqual(codeOf(answer), tooFast)
  t.is(answer.headers['retry-after'], '8', 'the second of them must have left too')
  daemon.clock.leap(8_000)
  t.is((await spawn(daemon, other)).status, 200)
})

for (const most of [0, 10])
  test(`agents-11: what an agent is told is at most max_spawn_input_tokens_per_request: ${most}`, async (t) => {
    const daemon = await start(t, { max_spawn_input_tokens_per_request: most })
    for (const bytes of [most * 4 - 1, most * 4].filter((n) => n > 0))
      await taken(t, daemon, told('x'.repeat(bytes)), `${bytes} bytes`)
    t.is((await refused(t, daemon, told('x'.repeat(most * 4 + 1)), tooFast)).headers['retry-after'], undefined)
    await taken(t, daemon, {}, 'nothing is told')
  })

test('agents-11: answers are asked for of at most max_spawn_output_tokens_per_request', async (t) => {
  const daemon = await start(t, { max_spawn_output_tokens_per_request: 100 })
  const forms = (max_output_tokens: number) => [
    { generation: { max_output_tokens } },
    { route_policy: { generation: { max_output_tokens } } },
  ]
  for (const tokens of [99, 100]) for (const body of forms(tokens)) await taken(t, daemon, body, `${tokens} tokens`)
  for (const body of forms(101)) t.is((await refused(t, daemon, body, tooFast)).headers['retry-after'], undefined)
})
