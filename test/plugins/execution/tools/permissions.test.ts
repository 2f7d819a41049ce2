import test from 'ava'
import fc from 'fast-check'
import { parse } from '../../../../core/base/parse.js'
import {
  matchRule,
  permissionModes,
  type PermissionMode,
  type PermissionRule,
  type RuleBehavior,
  type Tool,
} from '../../../../plugins/execution/tools/contract.js'
import { builtInRules, decidePermission, planTools, rulesOf } from '../../../../plugins/execution/tools/permissions.js'
import { ToolsConfig, defaultLimits } from '../../../../plugins/execution/tools/config.js'

const rule = (
  tool_name_pattern: string,
  behavior: RuleBehavior,
  scope: PermissionRule['scope'] = 'project',
): PermissionRule => ({ scope, tool_name_pattern, behavior })
const decide = (tool_name: string, mode: PermissionMode, ...rules: PermissionRule[][]) =>
  decidePermission({ tool_name, mode, rules: [...rules, builtInRules] })

/** tool, default, acceptEdits, bypassPermissions, plan, dontAsk */
const builtIn: readonly (readonly [string, ...RuleBehavior[]])[] = [
  ['bash', 'ask', 'ask', 'allow', 'deny', 'deny'],
  ['write_file', 'ask', 'allow', 'allow', 'deny', 'deny'],
  ['edit_file', 'ask', 'allow', 'allow', 'deny', 'deny'],
  ['apply_patch', 'ask', 'allow', 'allow', 'deny', 'deny'],
  ['mcp__mail__send', 'ask', 'ask', 'allow', 'deny', 'deny'],
  ['read_mcp_resource', 'ask', 'ask', 'allow', 'ask', 'deny'],
  ['exit_plan_mode', 'ask', 'ask', 'allow', 'ask', 'deny'],
  ['read_file', 'allow', 'allow', 'allow', 'allow', 'allow'],
  ['todo_write', 'allow', 'allow', 'allow', 'deny', 'allow'],
  ['ask_user_question', 'allow', 'allow', 'allow', 'allow', 'allow'],
  ['unheard_of', 'allow', 'allow', 'allow', 'deny', 'allow'],
]

test('tools-4: the built-in rules decide in every mode as the reference says', (t) => {
  for (const [tool, ...expected] of builtIn) {
    t.deepEqual(
      permissionModes.map((mode) => decide(tool, mode).decision),
      expected,
      tool,
    )
  }
})

test('tools-11: a mode that changed or judged the decision says so with its label', (t) => {
  const effects: [string, PermissionMode, string | undefined][] = [
    ['bash', 'default', undefined],
    ['write_file', 'acceptEdits', 'accept_edits_auto_allowed_edit_approval'],
    ['bash', 'acceptEdits', undefined],
    ['bash', 'bypassPermissions', 'bypass_permissions_auto_allowed_approval'],
    ['read_file', 'bypassPermissions', undefined],
    ['read_file', 'plan', 'plan_mode_allowed_read_only_or_coordination_tool'],
    ['exit_plan_mode', 'plan', 'plan_mode_allowed_read_only_or_coordination_tool'],
    ['bash', 'plan', 'plan_mode_denied_non_whitelisted_tool'],
    ['bash', 'dontAsk', 'dont_ask_denied_approval'],
    ['read_file', 'dontAsk', undefined],
  ]
  for (const [tool, mode, effect] of effects) {
    const decision = decide(tool, mode)
    t.is(decision.mode_effect, effect, `${tool} in ${mode}`)
    t.is(decision.mode_applied, effect !== undefined)
  }
})

test('tools-1: an exact name beats a longer prefix, that beats a shorter one, and the first of equals wins', (t) => {
  const rules = [
    rule('*', 'allow'),
    rule('mcp__*', 'ask'),
    rule('mcp__mail__*', 'deny'),
    rule('mcp__mail__read', 'allow'),
    rule('mcp__mail__read', 'deny'),
  ]
  t.is(matchRule(rules, 'mcp__mail__read'), rules[3])
  t.is(matchRule(rules, 'mcp__mail__send'), rules[2])
  t.is(matchRule(rules, 'mcp__other'), rules[1])
  t.is(matchRule(rules, 'bash'), rules[0])
  t.is(matchRule([rule('mcp__*', 'deny')], 'mcp_'), undefined)
  t.is(matchRule([], 'bash'), undefined)
})

test('tools-2: the first scope with a match decides, even if a later one is more exact', (t) => {
  const project = [rule('b*', 'allow', 'project')]
  const user = [rule('bash', 'deny', 'user')]
  t.is(decide('bash', 'default', [], project, user).decision, 'allow')
  t.is(decide('bash', 'default', [], project, user).scope, 'project')
  t.is(decide('bash', 'default', [], [], user).decision, 'deny')
  t.is(decide('bash', 'default', [rule('*', 'ask', 'session')], project, user).decision, 'ask')
})

test('without any rule a tool may run, and the decision names no rule', (t) => {
  const decision = decidePermission({ tool_name: 'bash', mode: 'default', rules: [] })
  t.deepEqual(decision, {
    effective_mode: 'default',
    decision: 'allow',
    base_decision: 'allow',
    mode_applied: false,
    approval_required: false,
    scope: 'session',
  })
})

const toolName = fc.constantFrom('bash', 'write_file', 'read_file', 'todo_write', 'mcp__a__b', 'exit_plan_mode', 'x')
const behavior = fc.constantFrom<RuleBehavior>('allow', 'deny', 'ask')
const pattern = fc.oneof(toolName, fc.constant('*'), fc.constantFrom('m*', 'mcp__*', 'b*', 'read_*'))
const rules = fc.array(
  fc.record({
    scope: fc.constantFrom('user' as const, 'project' as const, 'session' as const),
    tool_name_pattern: pattern,
    behavior,
  }),
  { maxLength: 6 },
)
const anyCase = fc.record({
  tool_name: toolName,
  mode: fc.constantFrom(...permissionModes),
  rules: fc.array(rules, { maxLength: 3 }),
})
const holds = (
  property: (made: { tool_name: string; mode: PermissionMode; rules: PermissionRule[][] }) => boolean,
): void => fc.assert(fc.property(anyCase, property), { numRuns: 2000 })

test('tools-5: no mode overrides an explicit deny', (t) => {
  holds((made) => decidePermission(made).base_decision !== 'deny' || decidePermission(made).decision === 'deny')
  t.pass()
})

test('tools-4: dontAsk and bypassPermissions never ask', (t) => {
  holds(
    (made) =>
      decidePermission({ ...made, mode: 'dontAsk' }).decision !== 'ask' &&
      decidePermission({ ...made, mode: 'bypassPermissions' }).decision !== 'ask',
  )
  t.pass()
})

test('plan lets nothing through that is not on its list', (t) => {
  holds((made) => planTools.has(made.tool_name) || decidePermission({ ...made, mode: 'plan' }).decision === 'deny')
  t.pass()
})

test('tools-6: plan and dontAsk never allow what the rules alone would not', (t) => {
  holds(
    (made) =>
      made.mode === 'acceptEdits' ||
      made.mode === 'bypassPermissions' ||
      decidePermission(made).decision !== 'allow' ||
      decidePermission(made).base_decision === 'allow',
  )
  t.pass()
})

test('an approval is required exactly when the decision is to ask, and only a labelled mode differs from the rules', (t) => {
  holds((made) => {
    const decision = decidePermission(made)
    const differs = decision.decision !== decision.base_decision
    return (
      decision.approval_required === (decision.decision === 'ask') && (!differs || decision.mode_effect !== undefined)
    )
  })
  t.pass()
})

test('tools-18: an empty configuration gives the defaults of the reference', (t) => {
  t.deepEqual(parse(ToolsConfig, {}), {
    ok: true,
    value: { permission_mode: 'default', permission_rules: [], limits: defaultLimits },
  })
  const partial = parse(ToolsConfig, { limits: { max_timeout_ms: 5 } })
  t.true(partial.ok && partial.value.limits.max_timeout_ms === 5 && partial.value.limits.max_parallel_tools === 16)
})

test('limits of zero, unknown modes, session rules and odd patterns are refused with their path', (t) => {
  const refused = (config: unknown): string | undefined => {
    const parsed = parse(ToolsConfig, config)
    return parsed.ok ? undefined : parsed.issues[0]?.path
  }
  t.is(refused({ limits: { max_parallel_tools: 0 } }), 'limits.max_parallel_tools')
  t.is(refused({ limits: { max_sandbox: 'none' } }), 'limits.max_sandbox')
  t.is(refused({ limits: { max_tools: 1 } }), 'limits.max_tools')
  t.is(refused({ permission_mode: 'yolo' }), 'permission_mode')
  t.is(
    refused({ permission_rules: [{ scope: 'session', tool_name_pattern: '*', behavior: 'allow' }] }),
    'permission_rules.0.scope',
  )
  t.is(
    refused({ permission_rules: [{ scope: 'user', tool_name_pattern: 'a*b', behavior: 'allow' }] }),
    'permission_rules.0.tool_name_pattern',
  )
})

test('tools-5: a rule that denies stands in every mode, and no mode takes part in it', (t) => {
  for (const mode of permissionModes) {
    for (const tool of ['bash', 'write_file', 'read_file'])
      t.like(
        decide(tool, mode, [rule(tool, 'deny')]),
        { decision: 'deny', base_decision: 'deny', mode_applied: false, approval_required: false },
        `${tool} in ${mode}`,
      )
  }
})

test('tools-3: a tool that no rule names says itself whether it asks: by default it does unless its effect is read', (t) => {
  const behavior = (more: Partial<Tool>): string => {
    const tool = { name: 'wire_money', effect: 'once', ...more } as const
    const decision = decidePermission({
      tool_name: tool.name,
      mode: 'default',
      rules: [rulesOf(tool)],
    })
    return decision.decision
  }
  t.is(behavior({}), 'ask')
  t.is(behavior({ effect: 'idempotent' }), 'ask')
  t.is(behavior({ effect: 'read' }), 'allow')
  t.is(behavior({ permission: 'allow' }), 'allow')
  t.is(behavior({ effect: 'read', permission: 'ask' }), 'ask')
  t.is(behavior({ name: 'bash', permission: 'allow' }), 'ask')
  t.is(behavior({ name: 'mcp__mail__send', permission: 'allow' }), 'ask')
  t.deepEqual(rulesOf({ name: 'wire_money', effect: 'once' }), [
    { scope: 'session', tool_name_pattern: 'wire_money', behavior: 'ask', built_in: true },
  ])
})

test('tools-13: plan mode lets a tool pass that says that it may be used there', (t) => {
  const decided = (in_plan_mode: boolean | undefined): string =>
    decidePermission({ tool_name: 'look_up', mode: 'plan', in_plan_mode, rules: [builtInRules] }).decision
  t.deepEqual([decided(undefined), decided(false), decided(true)], ['deny', 'deny', 'allow'])
})
