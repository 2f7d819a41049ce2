/** Random parents and children in a daemon, which call tools: what asks or is refused above does not pass below. */
import { rm } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../../core/plugin.js'
import { createRandom } from '../../../../faults/random.js'
import { call, directed, resultsIn, spawn } from '../../../../support/agents.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { echoing } from '../../../../support/interceptors.js'
import { planned, serverIn, writeServers } from '../../../../support/mcp.js'
import { submit, until } from '../../../../support/runs.js'
import { createWishes, type Wish } from './wishes.js'
import { partOf, volume } from '../../../../support/volume.js'

/** Of a dozen pairs by chance nothing may pass: the short suite takes the same ones each time. */
const seed = Number(process.env['HOLDFAST_SEED'] ?? volume(7, Date.now() % 1_000_000))
const wanted = volume(12, partOf(50, 10_000))

const calls: Readonly<Record<string, object>> = {
  read_file: { path: 'x.txt' },
  write_file: { path: 'y.txt', content: 'y' },
  bash: { command: 'true' },
  echo: { text: 'x' },
  mcp__a__get: {},
  mcp__a__put: {},
  mcp__b__get: {},
}

/** What a model is told of a call that it may not make. */
const refusals: ReadonlySet<string> = new Set([
  'tool_not_found',
  'call_denied_by_rule',
  'call_denied_by_mode',
  'call_denied_by_limit',
])

const start = async (t: ExecutionContext) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const tools = ['get', 'put'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  await writeServers(root, { a: planned({ tools }), b: planned({ tools }, { env_secret_refs: { KEY: 'mcp.key' } }) })
  const model = directed()
  const limits = [
    'max_live_children_per_parent',
    'max_spawns_per_session_window',
    'max_spawns_per_profile_window',
    'max_spawns_global_window',
    'max_spawn_cpu_ms_per_window',
    'max_spawn_cost_microusd_per_window',
    'max_live_descendants_per_root',
    'max_live_sidechains_global',
    'max_live_sidechains_per_session',
  ]
  const sidechains = Object.fromEntries(limits.map((name) => [name, 1e9]))
  const config: { [key: string]: JsonObject } = { ...model.config, sidechains }
  const daemon = await startTestDaemon(t, { root, plugins: [model.plugin, echoing('ask').plugin], config })
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'mcp.key', state: { value: 'sesame-4711-open' } })
  for (const name of ['a', 'b']) await serverIn(daemon, name)
  /** 2: the call was made; 1: somebody is asked first; 0: it is refused. */
  const powerOf = async (session_id: string, name: string): Promise<number> => {
    const { run_id } = await submit(daemon, session_id, call(name, calls[name]))
    const { status } = await until(daemon, run_id, 'completed', 'waiting_for_approval')
    if (status === 'completed') {
      const code = resultsIn(model.requests.at(-1)).at(-1)?.error?.code
      return refusals.has(code) ? 0 : 2
    }
    await daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})
    return 1
  }
  const powersOf = async (session_id: string): Promise<readonly number[]> => {
    const powers: number[] = []
    for (const name of Object.keys(calls)) powers.push(await powerOf(session_id, name))
    return powers
  }
  return Object.assign(daemon, { powersOf })
}

/** As a request: with all that it must have, and with the model route of the tests. */
const requestOf = ({ credential_scope, fork_context, ...wish }: Wish): object => ({
  ...wish,
  ...(credential_scope !== undefined && {
    credential_scope: { ...credential_scope, route_allow: [], route_deny: [] },
  }),
  ...(fork_context !== undefined && {
    fork_context: { parent_assistant_message: '', inherited_tool_call_ids: [], system_prompt: '', ...fork_context },
  }),
})

test('agents-4, agents-5, agents-6: of random pairs no child calls what its parent may not', async (t) => {
  const daemon = await start(t)
  const wishes = createWishes(createRandom(seed))
  let compared = 0
  let passed = 0
  for (let n = 0; compared < wanted; n += 1) {
    const session_id = `root${n}`
    await daemon.request('POST', '/v1/runtime/permission-mode', { mode: wishes.mode() })
    const top = (await daemon.request('POST', '/v1/sessions', { session_id })).body.agent_id
    const parent = await spawn(daemon, top, requestOf(wishes.wish()))
    if (parent.status !== 200) continue
    const above = await daemon.powersOf(parent.body.session_id)
    for (let child = 0; child < 4; child += 1) {
      const wish = requestOf(wishes.wish())
      const made = await spawn(daemon, parent.body.agent_id, wish)
      if (made.status !== 200) {
        t.is(made.body.code, 'agent_widened')
        continue
      }
      const own = await daemon.powersOf(made.body.session_id)
      compared += 1
      passed += own.filter((power) => power > 0).length
      const wider = Object.keys(calls).filter((_, at) => (own[at] ?? 0) > (above[at] ?? 0))
      t.deepEqual(wider, [], JSON.stringify({ seed, wish, above, own, parent: parent.body }))
    }
  }
  t.log(`HOLDFAST_SEED=${seed}: ${compared} pairs, ${passed} calls of children passed or asked`)
  t.true(passed > wanted / 10)
})
