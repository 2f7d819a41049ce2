/** A child does what its parent does, or less. */
import test, { type ExecutionContext } from 'ava'
import { unsafeCast, type JsonObject } from '../../../../../core/plugin.js'
import {
  checkedSurface,
  narrowedCapabilities,
  narrowedCredentials,
  narrowedMode,
} from '../../../../../plugins/agents/sidechains/bounds/narrowing.js'
import { narrowedSurface, permitsTool } from '../../../../../plugins/agents/sidechains/bounds/surface.js'
import {
  normalScope,
  permitsCapability,
  permitsCredential,
  type CapabilityScope,
  type CredentialScope,
} from '../../../../../plugins/execution/sessions/contract.js'
import { effectiveCredentialScope } from '../../../../../plugins/execution/sessions/settings/effective.js'
import { permissionModes } from '../../../../../plugins/execution/tools/contract.js'
import { HookCallbacks } from '../../../../../plugins/operator/hooks/contract.js'
import { agentOf, call, directed, does, openAgent, resultsIn, rowsOf, spawn } from '../../../../support/agents.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { echoing } from '../../../../support/interceptors.js'
import { testPlugin } from '../../../../support/plugins.js'
import { createRandom } from '../../../../faults/random.js'
import { codeOf } from '../../../../support/runs.js'

const start = async (t: ExecutionContext, mode?: string) => {
  const model = directed()
  const tool = echoing('ask')
  const judge = testPlugin('lends', {
    register(ctx) {
      const updated_permissions = [{ scope: 'session', tool_name_pattern: 'echo', behavior: 'allow', reason: 'lent' }]
      ctx.contribute(HookCallbacks, { name: 'judge', call: async () => ({ updated_permissions }) })
    },
  })
  const sidechains = {
    max_child_depth: 99,
    max_live_children_per_parent: 999,
    max_live_descendants_per_root: 999,
    max_live_sidechains_per_session: 999,
    max_live_sidechains_global: 999,
    max_spawns_per_session_window: 999,
    max_spawns_per_profile_window: 999,
    max_spawn_cpu_ms_per_window: 9e8,
  }
  const config: { [key: string]: JsonObject } = { ...model.config, sidechains }
  const daemon = await startTestDaemon(t, { plugins: [model.plugin, tool.plugin, judge], config })
  if (mode !== undefined) await daemon.request('POST', '/v1/runtime/permission-mode', { mode })
  const check = async (session_id: string, tool_name = 'echo') =>
    (await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name, session_id })).body
  return Object.assign(daemon, { asked: model.requests, check, calls: tool.calls, parent: await openAgent(daemon) })
}

for (const parent of permissionModes)
  test(`agents-4: a child of ${parent} has its mode, or a stricter one`, async (t) => {
    const order = ['bypassPermissions', 'acceptEdits', 'default', 'dontAsk', 'plan']
    const daemon = await start(t, parent)
    const bare = await spawn(daemon, daemon.parent)
    t.is((await daemon.check(bare.body.session_id)).effective_mode, parent)
    for (const mode of order) {
      const made = await spawn(daemon, daemon.parent, { permission_mode: mode })
      const isWider = order.indexOf(mode) < order.indexOf(parent)
      if (isWider) t.deepEqual(codeOf(made), [400, 'agent_widened'])
      else t.is((await daemon.check(made.body.session_id)).effective_mode, mode)
    }
    await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'bypassPermissions' })
    t.is((await daemon.check(bare.body.session_id)).effective_mode, parent, 'it stays as it was')
  })

test('agents-4: a child of a run has the mode that the run keeps, whatever the daemon has by then', async (t) => {
  const daemon = await start(t, 'dontAsk')
  const script = [
    '/sleep 400',
    call('spawn_agent', { name: 'x' }),
    '---',
    call('spawn_agent', { name: 'y', mode: 'default' }),
  ]
  const running = does(daemon, 's1', ...script)
  for (let n = 0; n < 2_000 && daemon.asked.length === 0; n += 1) await new Promise((done) => setTimeout(done, 2))
  await daemon.request('POST', '/v1/runtime/permission-mode', { mode: 'bypassPermissions' })
  t.is((await running).status, 'completed')
  const [child, wider] = resultsIn(daemon.asked.at(-1))
  t.is((await daemon.check(child.session_id)).effective_mode, 'dontAsk')
  t.is(wider.error.code, 'agent_widened')
})

test('agents-4: a child that plans asks for nothing where its parent never asks', async (t) => {
  const daemon = await start(t, 'dontAsk')
  const { body } = await spawn(daemon, daemon.parent, { permission_mode: 'plan' })
  for (const tool_name of ['exit_plan_mode', 'echo', 'bash', 'read_file', 'spawn_agent']) {
    const [above, own] = [await daemon.check('s1', tool_name), await daemon.check(body.session_id, tool_name)]
    t.not(own.decision, 'ask', tool_name)
    if (above.decision === 'deny') t.is(own.decision, 'deny', tool_name)
  }
})

test('agents-4: rules that hooks gave to the parent are copied when the child is started, and not later', async (t) => {
  const daemon = await start(t)
  const before = await spawn(daemon, daemon.parent)
  const hooks = { pre_tool_use: [{ name: 'court', executor: { type: 'callback', name: 'judge' } }] }
  await daemon.request('POST', '/v1/runtime/hooks', { settings: { hooks } })
  await does(daemon, 's1', call('echo', { text: 'plain' }))
  t.is((await daemon.check('s1')).decision, 'allow')
  const after = await spawn(daemon, daemon.parent)
  t.like(await daemon.check(after.body.session_id), { decision: 'allow', matched_rule: { reason: 'lent' } })
  t.is((await daemon.check(before.body.session_id)).decision, 'ask')
})

test('agents-5: without a credential scope a child has routes, and no credentials of connectors', async (t) => {
  const daemon = await start(t)
  await daemon.request('POST', '/v1/sessions', {
    session_id: 's2',
    credential_scope: { connector_allow: ['a'], connector_credential_allow: ['K'] },
  })
  const parent = (await daemon.request('GET', '/v1/sessions/s2')).body.agent_id
  const bare = (await spawn(daemon, parent)).body.effective_credential_scope
  for (const kind of ['connector', 'connector_credential', 'mcp_server']) t.deepEqual(bare[`${kind}_deny`], ['*'])
  t.deepEqual([bare.route_allow, bare.route_deny], [[], []])
  const asked = await spawn(daemon, parent, {
    credential_scope: { connector_allow: ['a'], connector_credential_allow: ['K'] },
  })
  t.like(asked.body.effective_credential_scope, { connector_allow: ['a'], connector_credential_allow: ['K'] })
  const below = await spawn(daemon, asked.body.agent_id)
  t.deepEqual(below.body.effective_credential_scope.connector_deny, ['*'])
})

test('agents-5: a request that names connectors and no credential of theirs leaves the child none', async (t) => {
  const daemon = await start(t)
  const credential_scope = { connector_allow: ['a', 'b'], connector_credential_allow: ['K'] }
  await daemon.request('POST', '/v1/sessions', { session_id: 's2', credential_scope })
  const parent = (await daemon.request('GET', '/v1/sessions/s2')).body.agent_id
  const scopeOf = async (wanted: object): Promise<any> =>
    (await spawn(daemon, parent, { credential_scope: wanted })).body.effective_credential_scope
  t.like(await scopeOf({ connector_allow: ['a'] }), { connector_allow: ['a'], connector_credential_deny: ['*'] })
  t.deepEqual((await scopeOf({ connector_deny: ['b'] })).connector_credential_deny, ['*'])
  t.like(await scopeOf({ route_deny: ['other'] }), { connector_deny: ['*'], connector_credential_deny: ['*'] })
})

test('agents-4, agents-5, agents-6: what is wider than the parent is refused by name, and nothing is made', async (t) => {
  const daemon = await start(t)
  await daemon.request('POST', '/v1/sessions', {
    session_id: 's2',
    capability_scope: { skill_allow: ['a'], mcp_server_deny: ['x'] },
    credential_scope: { route_allow: ['scripted'], connector_deny: ['b'] },
  })
  const top = (await daemon.request('GET', '/v1/sessions/s2')).body.agent_id
  const { body } = await spawn(daemon, top, { tool_surface: { allowlist: ['read_*', 'echo'] }, credential_scope: {} })
  const before = (await rowsOf(daemon)).length
  const unknown = await spawn(daemon, top, { permission_mode: 'loose' })
  t.deepEqual([unknown.status, unknown.body.errors[0].path], [400, 'body.permission_mode'])
  for (const wanted of [
    { capability_scope: { skill_allow: ['b'] } },
    { capability_scope: { skill_allow: ['a', '*'] } },
    { capability_scope: { mcp_server_allow: ['x'] } },
    { credential_scope: { route_allow: ['other'] } },
    { credential_scope: { connector_allow: ['b'] } },
    { credential_scope: { connector_credential_allow: ['K'] } },
    { tool_surface: { allowlist: ['*'] } },
    { tool_surface: { allowlist: ['rea*'] } },
    { tool_surface: { allowlist: ['echo', 'bash'] } },
    {
      fork_context: {
        parent_assistant_message: '',
        inherited_tool_call_ids: [],
        system_prompt: '',
        tool_surface: { allowlist: ['bash'] },
      },
    },
    { permission_mode: 'bypassPermissions' },
  ])
    t.deepEqual(codeOf(await spawn(daemon, body.agent_id, wanted)), [400, 'agent_widened'], JSON.stringify(wanted))
  t.is((await rowsOf(daemon)).length, before)
})

const source = createRandom(20_261_127)
const random = (): number => source.below(1_000_000) / 1_000_000
const pick = <T>(from: readonly T[]): T => unsafeCast<T>(from[Math.floor(random() * from.length)])
const some = (from: readonly string[]): string[] => from.filter(() => random() < 0.3)
const names = ['a', 'b', 'c', '*']
const tools = ['echo', 'read_file', 'list_agents', 'list_files', 'get_goal', 'bash']
const patterns = [...tools, '*', 'read_*', 'r*', 'list_*', 'nothing']
const capabilities = ['skill', 'mcp_server', 'mcp_tool'] as const
const credentials = ['route', 'connector', 'connector_credential', 'mcp_server'] as const
const scopeOf = (kinds: readonly string[]): any =>
  random() < 0.15
    ? undefined
    : Object.fromEntries(
        kinds.flatMap((kind) => [
          [`${kind}_allow`, some(names)],
          [`${kind}_deny`, some(names)],
        ]),
      )
const surfaceOf = () =>
  random() < 0.2 ? undefined : { allowlist: some(patterns), denylist: some(patterns.slice(0, 9)) }
const capabilityOf = (scope: any): CapabilityScope | undefined =>
  scope === undefined ? undefined : normalScope<CapabilityScope>(scope)
/** As a session has it. */
const effectiveOf = (scope: any): CredentialScope | undefined => {
  const credential_scope = scope === undefined ? undefined : normalScope<CredentialScope>(scope)
  return effectiveCredentialScope(unsafeCast({ credential_scope }))
}
/** What is made, or undefined where it is refused. */
const made = <T>(make: () => T): { readonly child: T } | undefined => {
  try {
    return { child: make() }
  } catch {
    return undefined
  }
}

test('agents-4, agents-5, agents-6: of ten thousand pairs no child has more than its parent', (t) => {
  let [allowed, refused] = [0, 0]
  for (let n = 0; n < 10_000; n += 1) {
    const [upper, wish] = [capabilityOf(scopeOf(capabilities)), scopeOf(capabilities)]
    const one = made(() => narrowedCapabilities(upper, wish))
    for (const kind of capabilities)
      for (const name of ['a', 'b', 'c', 'd'])
        if (one !== undefined && permitsCapability(one.child, kind, name) && !permitsCapability(upper, kind, name))
          t.fail(JSON.stringify({ upper, wish, kind, name }))
    const [over, wanted] = [effectiveOf(scopeOf(credentials)), scopeOf(credentials)]
    const two = made(() => narrowedCredentials(over, wanted))
    for (const kind of credentials)
      for (const name of ['a', 'b', 'c', 'd'])
        if (two !== undefined && permitsCredential(two.child, kind, name) && !permitsCredential(over, kind, name))
          t.fail(JSON.stringify({ over, wanted, kind, name }))
    const [above, surface] = [
      made(() => checkedSurface(undefined, surfaceOf() ?? { allowlist: [], denylist: [] }))?.child,
      surfaceOf(),
    ]
    const three = made(() => checkedSurface(above, surface))
    for (const name of [...tools, 'other'])
      if (
        three !== undefined &&
        (three.child === undefined || permitsTool(three.child, name)) &&
        above !== undefined &&
        !permitsTool(above, name)
      )
        t.fail(JSON.stringify({ above, surface, name }))
    const [mode, asked] = [pick(permissionModes), pick(permissionModes)]
    if (made(() => narrowedMode(mode, asked)) === undefined) refused += 1
    else allowed += 1
  }
  t.true(allowed > 1_000 && refused > 1_000)
})

test('agents-6: a star denies everything, or all tools of servers', (t) => {
  const surface = narrowedSurface(
    { allowlist: [], denylist: ['mcp__*'] },
    { allowlist: [' bash', 'read_*'], denylist: [] },
  )
  t.deepEqual(surface, { allowlist: ['bash', 'read_*'], denylist: ['mcp__*'] })
  const passed = (denylist: string[]) =>
    ['read_file', 'mcp__a__get'].filter((name) => permitsTool({ allowlist: [], denylist }, name))
  t.deepEqual([passed([]), passed(['mcp__*']), passed(['*'])], [['read_file', 'mcp__a__get'], ['read_file'], []])
})

test('agents-6: what a child may call by its surface is what its parent may, tried by calling', async (t) => {
  const daemon = await start(t, 'bypassPermissions')
  const calls = tools
    .slice(0, 5)
    .map((name) => call(name, name === 'echo' ? { text: 'x' } : name === 'read_file' ? { path: 'x' } : {}))
  const passes = async (session_id: string): Promise<readonly boolean[]> => {
    await does(daemon, session_id, ...calls)
    const last = daemon.asked.at(-1)
    const told = resultsIn(last).map((output) => JSON.stringify(output ?? null))
    return tools.slice(0, 5).map((_, n) => !/tool_not_found/u.test(told[n] ?? ''))
  }
  let compared = 0
  for (let n = 0; n < 20; n += 1) {
    const above = await spawn(daemon, daemon.parent, { tool_surface: surfaceOf() ?? {} })
    const child = await spawn(daemon, above.body.agent_id, { tool_surface: surfaceOf() ?? {} })
    if (child.status !== 200) continue
    const [upper, lower] = [await passes(above.body.session_id), await passes(child.body.session_id)]
    compared += 1
    lower.forEach((isPassed, at) => t.true(!isPassed || upper[at] === true, tools[at]))
  }
  t.true(compared > 3)
  const none = await spawn(daemon, daemon.parent, { tool_surface: { allowlist: ['read_file'], denylist: ['read_*'] } })
  t.deepEqual(await passes(none.body.session_id), [false, false, false, false, false])
  t.is((await agentOf(daemon, none.body.agent_id)).status, 'completed')
})

test('agents-5: who names routes alone gives no credentials', async (t) => {
  const daemon = await startTestDaemon(t)
  const parent = await openAgent(daemon)
  const scopeOf = async (credential_scope: object) =>
    (await spawn(daemon, parent, { credential_scope })).body.effective_credential_scope
  const lost = { connector_deny: ['*'], connector_credential_deny: ['*'], mcp_server_deny: ['*'] }
  t.like(await scopeOf({}), lost)
  t.like(await scopeOf({ route_allow: ['demo'] }), { ...lost, route_allow: ['demo'] })
  t.like(await scopeOf({ mcp_server_allow: ['*'] }), { ...lost, mcp_server_allow: ['*'], mcp_server_deny: [] })
})
