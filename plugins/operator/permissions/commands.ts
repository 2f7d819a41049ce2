import {
  array,
  boolean,
  defineCommand,
  enums,
  namedLine,
  open,
  optional,
  string,
  visibleLine,
  type Command,
  type CommandFlag,
  type Infer,
} from '../../../core/plugin.js'
import { grantRuleKinds, grantText, permissionModes } from '../../execution/tools/contract.js'

const base = '/v1/runtime/permissions'
const ofSession: Readonly<Record<string, CommandFlag>> = {
  'session-id': { kind: 'text', summary: "Decides by this session's mode and rules." },
}

const Matrix = open({
  modes: array(open({ mode: string(), tools: array(open({ tool_name: string(), decision: string() })) })),
})

/** A line for each tool, a column for each mode. */
const showMatrix = ({ modes: columns }: Infer<typeof Matrix>): string => {
  const names = columns[0]?.tools.map(({ tool_name }) => tool_name) ?? []
  const width = Math.max(4, ...names.map((name) => visibleLine(name).length))
  const line = (name: string, cells: readonly string[]): string =>
    [name.padEnd(width), ...cells.map((cell, at) => cell.padEnd(columns[at]?.mode.length ?? 0))].join('  ').trimEnd()
  return [
    line(
      '',
      columns.map(({ mode }) => mode),
    ),
    ...names.map((name, at) =>
      line(
        visibleLine(name),
        columns.map(({ tools }) => tools[at]?.decision ?? ''),
      ),
    ),
  ].join('\n')
}

const Checked = open({
  tool_name: string(),
  effective_mode: string(),
  decision: string(),
  reason: optional(string()),
  matched_rule: optional(open({ scope: string(), tool_name_pattern: string(), behavior: string() })),
  matched_rule_origin: optional(string()),
  built_in: optional(boolean()),
  fails_with: optional(string()),
  grant_rule: optional(open({ kind: enums(grantRuleKinds), value: string() })),
})

const row = namedLine(12)

type Checked = Infer<typeof Checked>

/** Whose rule decided. */
const giverOf = ({ matched_rule, matched_rule_origin, built_in = false }: Checked): string => {
  if (built_in) return 'built in, as nobody gave a rule that fits'
  if (matched_rule?.scope !== 'session') return `of the ${matched_rule?.scope ?? ''} in config/tools.toml`
  return `of the session${matched_rule_origin === 'hook_update' ? ', by a hook' : ''}`
}

const ruleLines = (checked: Checked): string[] => {
  const { matched_rule: rule } = checked
  return row('rule', rule && `${rule.tool_name_pattern}: ${rule.behavior}, ${giverOf(checked)}`)
}

/** Of a name that no tool has: the built-in rule of all names says nothing of a tool that comes to have it. */
const showMissing = (checked: Checked): string[] => {
  const { effective_mode, decision, matched_rule, built_in = false } = checked
  if (built_in && matched_rule?.tool_name_pattern === '*' && decision === 'allow')
    return ['No rule names it: a tool of this name would say itself whether it asks.']
  return [`Were there such a tool: ${decision} in mode ${effective_mode}`, ...ruleLines(checked)]
}

/** What a call would fail with comes first: nothing that is decided of it matters then. */
const showChecked = (checked: Checked): string => {
  const { tool_name, effective_mode, decision, reason, fails_with, grant_rule } = checked
  const failure = fails_with === undefined ? [] : [visibleLine(reason ?? `A call of it fails with ${fails_with}.`)]
  if (fails_with === 'tool_not_found') return [...failure, ...showMissing(checked)].join('\n')
  const head = fails_with === undefined ? visibleLine(tool_name) : 'Were it not for that'
  return [
    ...failure,
    `${head}: ${decision} in mode ${effective_mode}`,
    ...(fails_with === undefined ? row('because', reason) : []),
    ...ruleLines(checked),
    ...row('remembered', grant_rule && `would cover ${grantText(tool_name, grant_rule)}`),
    ...row('hooks', 'not asked here; one may decide otherwise'),
  ].join('\n')
}

export const commands: readonly Command[] = [
  defineCommand({
    path: ['runtime', 'permissions', 'check'],
    route: `POST ${base}/check`,
    summary: 'What would become of a call of a tool, without making it.',
    args: ['tool_name'],
    flags: {
      ...ofSession,
      mode: { kind: 'text', summary: 'Decides as if this mode were in force.' },
      'input-json': { kind: 'text', value: 'json', summary: 'The input of the call; grants look at it.' },
    },
    choices: { mode: permissionModes },
    fields: {
      'body.input': '--input-json',
      'body.input.*': '--input-json',
      'body.mode_override': '--mode',
    },
    run: async ({ client, args, flags, json }) => {
      const input = await json('input-json')
      return client.send('POST', `${base}/check`, {
        tool_name: args['tool_name'] ?? '',
        ...(input !== undefined && { input }),
        ...(typeof flags['session-id'] === 'string' && { session_id: flags['session-id'] }),
        ...(typeof flags['mode'] === 'string' && { mode_override: flags['mode'] }),
      })
    },
    answer: Checked,
    show: showChecked,
  }),
  defineCommand({
    path: ['runtime', 'permissions', 'matrix'],
    route: `POST ${base}/matrix`,
    summary: 'Which tools may run in which permission mode.',
    flags: ofSession,
    run: ({ client, flags }) =>
      client.send('POST', `${base}/matrix`, {
        ...(typeof flags['session-id'] === 'string' && { session_id: flags['session-id'] }),
      }),
    answer: Matrix,
    show: showMatrix,
  }),
]
