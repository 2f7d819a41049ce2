/** A tree of agents as text: who works, who waits for what and since when, and what that has used. */
import { array, open, string, visibleLine, type Infer } from '../../../../core/plugin.js'
import { reasonLines, ShownReason } from '../../../operator/explanations/contract.js'
import { statusWords, type AgentRow } from './agent-text.js'

/** What the daemon says of one that does not go on by itself. */
export const Waits = open({
  subjects: array(
    open({
      kind: string(),
      id: string(),
      reasons: array(ShownReason),
    }),
  ),
})
export type Waits = Infer<typeof Waits>

/** Reasons of one agent that are shown. */
const mostReasons = 3

const counted = (count: number, what: string): string[] => (count === 0 ? [] : [`${count} ${what}`])

const usageText = ({ usage }: AgentRow): string[] => {
  if (usage === undefined) return []
  const { input_tokens, output_tokens, cost_microusd } = usage
  const cost = cost_microusd === undefined ? '' : `, $${(cost_microusd / 1e6).toFixed(4)}`
  return [`${input_tokens + output_tokens} tokens${cost}`]
}

const headOf = (row: AgentRow): string => {
  const { agent_id, session_id, name, path, nickname, last_error } = row
  return [
    nickname ?? path ?? name ?? session_id,
    statusWords(row).join(', '),
    ...counted(row.queued_run_count, 'queued'),
    ...counted(row.mailbox_message_count, 'in its mailbox'),
    ...usageText(row),
    ...(last_error === undefined ? [] : [last_error]),
    agent_id,
  ]
    .map((text) => visibleLine(text))
    .join('  ')
}

/** Why an agent is where it is: its own reasons, and those of its runs, but not those of agents that it waits for. */
export const ownReasons = ({ subjects }: Waits): readonly ShownReason[] => {
  const end = subjects.findIndex(({ kind }, at) => at > 0 && kind === 'agent')
  return subjects
    .slice(0, end < 0 ? undefined : end)
    .flatMap(({ reasons }) => reasons)
    .slice(0, mostReasons)
}

/** What agents wait for, by their id. */
export type Reasons = ReadonlyMap<string, readonly ShownReason[]>

const linesOf = (row: AgentRow, waits: Reasons, indent: string): string[] => [
  `${indent}${headOf(row)}`,
  ...(waits.get(row.agent_id) ?? []).flatMap((reason) => reasonLines(reason, 1)).map((line) => `${indent}  ${line}`),
]

/** Those that ask people, without the tree around them. */
export const askingLines = (asking: readonly AgentRow[], waits: Reasons): readonly string[] =>
  asking.length === 0 ? [] : ['People are asked by', ...asking.flatMap((row) => linesOf(row, waits, '  ')), '']

/** Children stand below their parents, each level two blanks further in. */
export const drawTree = (rows: readonly AgentRow[], waits: Reasons): string => {
  const known = new Set(rows.map(({ agent_id }) => agent_id))
  const children = new Map<string, AgentRow[]>()
  for (const row of rows) {
    const { parent_agent_id: parent = '' } = row
    const above = known.has(parent) ? parent : ''
    const siblings = children.get(above)
    if (siblings === undefined) children.set(above, [row])
    else siblings.push(row)
  }
  const draw = (row: AgentRow, indent: string): string[] => [
    ...linesOf(row, waits, indent),
    ...(children.get(row.agent_id) ?? []).flatMap((child) => draw(child, `${indent}  `)),
  ]
  return (children.get('') ?? []).flatMap((row) => draw(row, '')).join('\n')
}
