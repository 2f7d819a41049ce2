import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import { permissionRoutes } from '../../../../plugins/operator/permissions/routes.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'

const path = '/v1/runtime/permissions/check'

test('tools-8: the permission check explains what would become of a call, and changes nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const session_id = await openSession(daemon)
  const { status, body } = await daemon.request('POST', path, {
    tool_name: 'bash',
    tool_call_id: 'c1',
    session_id,
    input: { command: 'ls' },
  })
  t.is(status, 200)
  t.deepEqual(body, {
    tool_call_id: 'c1',
    tool_name: 'bash',
    effective_mode: 'default',
    decision: 'ask',
    base_decision: 'ask',
    mode_applied: false,
    approval_required: true,
    hooks_evaluated: false,
    grant_rule: { kind: 'command', value: 'ls' },
    hook_policy: 'not_executed_in_dry_run',
    scope: 'session',
    reason: 'bash asks before it runs.',
    matched_rule: { scope: 'session', tool_name_pattern: 'bash', behavior: 'ask' },
    matched_rule_origin: 'static',
    built_in: true,
    audit_preview: {
      scope: 'session',
      tool_name: 'bash',
      tool_call_id: 'c1',
      decision: 'ask',
      base_decision: 'ask',
      effective_mode: 'default',
      matched_rule_pattern: 'bash',
      matched_rule_origin: 'static',
      justification: null,
      reason: 'bash asks before it runs.',
      approval_request_id: 'dry-run',
    },
  })
  const unknown = (await daemon.request('POST', path, { tool_name: 'teleport' })).body
  t.regex(unknown.reason, /tool_not_found/u)
  // Nobody takes a ruling over a name that is misspelt for one over a tool.
  const asked = (await daemon.request('POST', path, { tool_name: 'mcp__files__raed' })).body
  t.is(asked.decision, 'ask')
  t.regex(asked.reason, /tool_not_found, .* mcp__files__raed asks before it runs\.$/u)
  t.deepEqual((await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body, [])
})

test('tools-8: the command line asks with an input, at which grants look', async (t) => {
  const { url } = await startTestDaemon(t)
  const line = createCommandLine({ url })
  t.is((await line('grants', 'add', 'bash', '--input-json', '{"command":"npm test"}')).code, 0)
  const check = (input: string) =>
    line('runtime', 'permissions', 'check', 'bash', '--input-json', input, '--output', 'json')
  for (const [command, decision] of [
    ['npm test', 'allow'],
    ['npm publish', 'ask'],
  ] as const) {
    const { code, out } = await check(JSON.stringify({ command }))
    t.is(code, 0)
    t.like(JSON.parse(out), { decision }, command)
  }
  const shown = async (...words: string[]) => (await line('runtime', 'permissions', 'check', ...words)).out.split('\n')
  t.deepEqual(await shown('bash'), [
    'bash: ask in mode default',
    '  because     bash asks before it runs.',
    '  rule        bash: ask, built in, as nobody gave a rule that fits',
    '  hooks       not asked here; one may decide otherwise',
    '',
  ])
  const [first, second, third] = await shown('bsah')
  t.regex(first ?? '', /^There is no tool named bsah\. A call of it now fails with tool_not_found/u)
  t.deepEqual([second, third], ['No rule names it: a tool of this name would say itself whether it asks.', ''])
  t.is((await shown('bsah', '--mode', 'plan'))[1], 'Were there such a tool: deny in mode plan')
  t.deepEqual((await shown('mcp__*')).slice(1), [
    'Were there such a tool: ask in mode default',
    '  rule        mcp__*: ask, built in, as nobody gave a rule that fits',
    '',
  ])
  const none = await line('runtime', 'permissions', 'check', 'bash', '--input-json', '[]')
  t.not(none.code, 0)
  t.regex(none.err, /--input-json/u)
})

test('tools-8: the command line says who gave the rule, and what it would do for a tool that is not there', async (t) => {
  const { url } = await startTestDaemon(t, {
    config: {
      tools: {
        permission_rules: [
          { scope: 'project', tool_name_pattern: 'teleport', behavior: 'deny' },
          { scope: 'user', tool_name_pattern: 'bash', behavior: 'allow' },
        ],
      },
    },
  })
  const line = createCommandLine({ url })
  const shown = async (tool: string) => (await line('runtime', 'permissions', 'check', tool)).out.trimEnd().split('\n')
  t.deepEqual((await shown('teleport')).slice(1), [
    'Were there such a tool: deny in mode default',
    '  rule        teleport: deny, of the project in config/tools.toml',
  ])
  t.deepEqual((await shown('bash')).slice(0, 2), [
    'bash: allow in mode default',
    '  rule        bash: allow, of the user in config/tools.toml',
  ])
})

test('tools-7: the check follows the mode and the rules of the configuration', async (t) => {
  const daemon = await startTestDaemon(t, {
    flags: { 'permission-mode': 'bypassPermissions' },
    config: {
      tools: {
        permission_rules: [
          { scope: 'user', tool_name_pattern: 'write_*', behavior: 'deny', reason: 'Look, do not touch.' },
          { scope: 'project', tool_name_pattern: 'write_log', behavior: 'allow' },
        ],
      },
    },
  })
  const ask = async (tool_name: string) => (await daemon.request('POST', path, { tool_name })).body
  t.like(await ask('bash'), {
    decision: 'allow',
    base_decision: 'ask',
    mode_applied: true,
    mode_effect: 'bypass_permissions_auto_allowed_approval',
    effective_mode: 'bypassPermissions',
  })
  t.like(await ask('write_file'), { decision: 'deny', scope: 'user', reason: 'Look, do not touch.' })
  t.like(await ask('write_log'), { decision: 'allow', scope: 'project' })
})

test('tools-10: a tool above the largest sandbox is denied in every mode', async (t) => {
  const daemon = await startTestDaemon(t, {
    config: { tools: { permission_mode: 'bypassPermissions', limits: { max_sandbox: 'read_only' } } },
  })
  const ask = async (tool_name: string) => (await daemon.request('POST', path, { tool_name })).body
  t.like(await ask('write_file'), { decision: 'deny', mode_applied: false, approval_required: false })
  t.like(await ask('read_file'), { decision: 'allow' })
})

test('tools-9: an unknown session is not found, and a wrong body names its field', async (t) => {
  const daemon = await startTestDaemon(t)
  const unknown = await daemon.request('POST', path, { tool_name: 'bash', session_id: 'nobody' })
  t.deepEqual([unknown.status, unknown.body.code, unknown.body.domain], [404, 'session_not_found', undefined])
  for (const body of [
    {},
    { tool_name: '' },
    { tool_name: 'bash', input: 'text' },
    { tool_name: 'bash', stranger: 1 },
  ]) {
    t.is((await daemon.request('POST', path, body)).status, 400)
  }
})

test('tools-33: the check and the matrix explain each mode as it would be, and change nothing', async (t) => {
  const daemon = await startTestDaemon(t)
  const session_id = await openSession(daemon)
  const check = async (mode_override: string) =>
    (await daemon.request('POST', path, { tool_name: 'bash', session_id, mode_override })).body
  t.like(await check('bypassPermissions'), { effective_mode: 'bypassPermissions', decision: 'allow' })
  t.like(await check('dontAsk'), { effective_mode: 'dontAsk', decision: 'deny' })
  const { status, body } = await daemon.request('POST', '/v1/runtime/permissions/matrix', { session_id })
  t.is(status, 200)
  t.deepEqual(
    body.modes.map(({ mode, tools }: any) => [mode, tools.find((one: any) => one.tool_name === 'bash').decision]),
    [
      ['default', 'ask'],
      ['acceptEdits', 'ask'],
      ['bypassPermissions', 'allow'],
      ['plan', 'deny'],
      ['dontAsk', 'deny'],
    ],
  )
  t.is((await daemon.request('POST', '/v1/runtime/permissions/matrix')).body.modes.length, 5)
  t.is((await daemon.request('POST', '/v1/runtime/permissions/matrix', { session_id: 'nobody' })).status, 404)
  t.like((await daemon.request('GET', '/v1/runtime')).body, { permission_mode: 'default', config: { revision: 0 } })
})

test('tools-8: the matrix of thousands of tools is made in turns, so that others are served', async (t) => {
  let decided = 0
  const registry: any = {
    list: () => Array.from({ length: 2_500 }, (_, at) => ({ name: `tool_${at}` })),
    find: () => ({}),
    decide: () => ((decided += 1), { decision: 'allow', base_decision: 'allow', effective_mode: 'default' }),
  }
  const matrix: any = permissionRoutes({ registry, sessionExists: () => true }).find(
    ({ id }) => id === 'permissions.matrix',
  )
  let isOver = false
  const made = Promise.resolve(matrix.handler({ body: {} })).then((answer: any) => ((isOver = true), answer))
  for (let before = 0; !isOver; before = decided) {
    t.true(decided - before <= 300, `${decided - before} in one turn`)
    await setImmediate()
  }
  t.is((await made).modes[0].tools.length, 2_500)
  t.is(decided, (await made).modes.length * 2_500)
})

test('tools-8: the check has the code that a call fails with whatever is decided', async (t) => {
  const daemon = await startTestDaemon(t, { config: { tools: { limits: { max_input_bytes: 100 } } } })
  const session_id = await openSession(daemon)
  await daemon.request('PUT', `/v1/sessions/${session_id}/tool-overrides`, { tool_overrides: { disable: ['bash'] } })
  const fails = async (body: object) => (await daemon.request('POST', path, { session_id, ...body })).body.fails_with
  t.deepEqual(
    [
      await fails({ tool_name: 'bash' }),
      await fails({ tool_name: 'teleport' }),
      await fails({ tool_name: 'read_file', input: { path: 'a'.repeat(100) } }),
      await fails({ tool_name: 'read_file', input: { path: 1 } }),
      await fails({ tool_name: 'read_file', input: { path: 'a' } }),
      await fails({ tool_name: 'read_file' }),
    ],
    ['tool_turned_off', 'tool_not_found', 'call_input_too_large', 'call_input_invalid', undefined, undefined],
  )
})

for (const [what, tools, code] of [
  ['a rule', { permission_rules: [{ scope: 'user', tool_name_pattern: 'bash', behavior: 'deny' }] }, 'rule'],
  ['the mode', { permission_mode: 'dontAsk' }, 'mode'],
  ['a limit', { limits: { max_sandbox: 'read_only' } }, 'limit'],
] as const)
  test(`tools-17: a call that ${what} denies says so`, async (t) => {
    const daemon = await startTestDaemon(t, { config: { tools } })
    const session_id = await openSession(daemon)
    const { run_id } = await submit(daemon, session_id, '/tool bash {"command":"ls"}')
    await until(daemon, run_id, 'completed')
    const steps = (await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)).body
    const ended = steps.map(({ event }: any) => event).find(({ type }: any) => type === 'tool_ended')
    t.like(ended, { outcome: 'refused', code: `call_denied_by_${code}` })
  })
