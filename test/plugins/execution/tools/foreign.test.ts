/** Foreign tools: their names, their inputs, and who sees them. */
import test from 'ava'
import { assert } from '../../../../core/base/assert.js'
import { fromJsonSchema, type Json } from '../../../../core/plugin.js'
import {
  foreignToolName,
  ToolGates,
  Tools,
  type Tool,
  type ToolOrigin,
} from '../../../../plugins/execution/tools/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { capabilityScope } from '../../../support/scopes.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

const schema = { type: 'object', properties: { title: { type: 'string', maxLength: 5 } }, required: ['title'] }

const foreignTool = async (origin: ToolOrigin): Promise<Tool> => {
  const input = await fromJsonSchema(schema)
  assert(input.ok, 'the schema was refused')
  return {
    name: foreignToolName(origin),
    origin,
    description: `The ${origin.tool} of ${origin.server}.`,
    input: input.value,
    effect: 'read',
    parallel: true,
    timeout_ms: 1_000,
    sandbox: 'inherited',
    run: (given: Json) => ({ type: 'result', output: { given } }),
  }
}

test('foreign-tools-4: a foreign tool has a name that models take, and no two tools have the same', (t) => {
  const name = (server: string, tool: string): string => foreignToolName({ server, tool })
  t.is(name('git', 'createIssue'), 'mcp__git__createIssue')
  t.is(name('git-hub', 'create-issue'), 'mcp__git-hub__create-issue')
  const all = [
    ['git', 'a.b'],
    ['git', 'a_b'],
    ['git', 'a/b'],
    ['git', 'a b'],
    ['git', 'A_b'],
    ['git', 'ä'],
    ['git', 'ö'],
    ['git', ''],
    ['a', 'b__c'],
    ['a__b', 'c'],
    ['a_', 'x'],
    ['a', '_x'],
    ['git', `${'long_'.repeat(20)}1`],
    ['git', `${'long_'.repeat(20)}2`],
    ['g'.repeat(80), 'one'],
    ['g'.repeat(80), 'two'],
  ].map(([server = '', tool = '']) => name(server, tool))
  t.is(new Set(all).size, all.length)
  for (const one of all) t.regex(one, /^mcp__[a-zA-Z0-9_-]{1,59}$/u)
  t.regex(name('git', 'a.b'), /^mcp__git__a_b_[0-9a-f]{8}$/u)
})

test('foreign-tools-4: a foreign tool under the name of another is refused', async (t) => {
  const { plugin, context } = lender({})
  await startTestDaemon(t, { plugins: [plugin] })
  const tool = await foreignTool({ server: 'git', tool: 'log' })
  t.throws(() => context().contribute(Tools, { ...tool, name: 'bash' }), { message: /that of its origin/u })
})

test('foreign-tools-5: a session sees and calls the foreign tools that its capability scope lets pass, from when they are there', async (t) => {
  const model = scriptedProvider(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? [text('done'), done()]
      : [
          callTool('c1', 'mcp__git__log', { title: 'short' }),
          callTool('c2', 'mcp__git__push', { title: 'short' }),
          callTool('c3', 'mcp__web__get', { title: 'short' }),
          callTool('c4', 'mcp__git__log', { title: 'too long' }),
          done('tool_calls'),
        ],
  )
  const { plugin, context } = lender({})
  const daemon = await startTestDaemon(t, {
    plugins: [plugin, model.plugin],
    config: { ...model.config, tools: { permission_mode: 'bypassPermissions' } },
  })
  await openSession(daemon, 'free')
  const tools = [
    await foreignTool({ server: 'git', tool: 'log' }),
    await foreignTool({ server: 'git', tool: 'push' }),
    await foreignTool({ server: 'web', tool: 'get' }),
  ]
  const outcomes = async (session: string): Promise<[string, unknown][]> => {
    const { run_id } = await submit(daemon, session, 'go')
    await until(daemon, run_id, 'completed', 'failed')
    const { body } = await daemon.request('GET', `/v1/sessions/${session}/events`)
    return body.session.journal
      .filter((one: any) => one.run_id === run_id && one.type === 'outcome')
      .map(({ entry }: any) => [entry.tool_call_id, entry.output.error?.code ?? entry.output.given?.title])
  }
  const seen = (): string[] =>
    (model.requests.at(-1)?.tools ?? []).map(({ name }) => name).filter((name) => name.startsWith('mcp__'))

  const takeBack = context().contribute(Tools, ...tools)
  t.deepEqual(Object.fromEntries(await outcomes('free')), {
    c1: 'short',
    c2: 'short',
    c3: 'short',
    c4: 'call_input_invalid',
  })
  t.deepEqual(seen(), ['mcp__git__log', 'mcp__git__push', 'mcp__web__get'])
  t.deepEqual(model.requests[0]?.tools.find(({ name }) => name === 'mcp__git__log')?.parameters, schema)

  const scope = capabilityScope({ mcp_server_allow: ['git'], mcp_tool_deny: ['mcp__git__push'] })
  const opened = await daemon.request('POST', '/v1/sessions', { session_id: 'bound', capability_scope: scope })
  t.is(opened.status, 201)
  t.deepEqual(Object.fromEntries(await outcomes('bound')), {
    c1: 'short',
    c2: 'tool_not_found',
    c3: 'tool_not_found',
    c4: 'call_input_invalid',
  })
  t.deepEqual(seen(), ['mcp__git__log'])

  takeBack()
  t.deepEqual(new Set((await outcomes('free')).map(([, code]) => code)), new Set(['tool_not_found']))
  t.deepEqual(seen(), [])
})

test('foreign-tools-5: of a gate that throws every tool counts as hidden', async (t) => {
  const model = scriptedProvider(() => [text('done'), done()])
  const { plugin, context } = lender({})
  const daemon = await startTestDaemon(t, { plugins: [plugin, model.plugin], config: model.config })
  await openSession(daemon)
  context().contribute(ToolGates, {
    id: 'broken',
    hidden() {
      throw new Error('the gate is broken')
    },
  })
  const { run_id } = await submit(daemon, 's1', 'go')
  await until(daemon, run_id, 'completed')
  t.deepEqual(model.requests.at(-1)?.tools, [])
})
