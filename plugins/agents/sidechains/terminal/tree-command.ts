/** `holdfast agents tree`. */
import {
  array,
  defineCommand,
  fault,
  open,
  optional,
  parse,
  string,
  watchFlag,
  watchStanding,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
  type Standing,
} from '../../../../core/plugin.js'
import { AgentRow } from './agent-text.js'
import { drawTree, ownReasons, Waits } from './tree.js'

const Page = open({ items: array(AgentRow), pagination: open({ next_cursor: optional(string()) }) })

/** Agents at work of which it is asked what they wait for. */
const mostAsked = 50

const pathOf = (root: string, cursor: string | undefined): string =>
  `/v1/agents/summaries?limit=100&root=${encodeURIComponent(root)}` +
  (cursor === undefined ? '&page=true' : `&cursor=${encodeURIComponent(cursor)}`)

const pageOf = async ({ client }: CommandInput, path: string): Promise<Infer<typeof Page>> => {
  const page = parse(Page, await client.get(path))
  if (!page.ok) throw fault('the daemon answered with no page of agents')
  return page.value
}

const readAll = async (input: CommandInput, root: string): Promise<readonly AgentRow[]> => {
  const rows: AgentRow[] = []
  let cursor: string | undefined
  do {
    const page = await pageOf(input, pathOf(root, cursor))
    rows.push(...page.items)
    cursor = page.pagination.next_cursor
  } while (cursor !== undefined && !input.signal.aborted)
  return rows
}

const atRest: ReadonlySet<string> = new Set(['idle', 'completed', 'failed'])
const isAtWork = ({ status, queued_run_count, mailbox_message_count }: AgentRow): boolean =>
  !atRest.has(status) || queued_run_count + mailbox_message_count > 0

/** None where the plugin that explains is off. */
const reasonsOf = async ({ client }: CommandInput, agent_id: string) => {
  const told = parse(Waits, await client.get(`/v1/explanations/${encodeURIComponent(agent_id)}`).catch(() => null))
  return told.ok ? ownReasons(told.value) : []
}

/** The tree below an agent, or of those in it that are named. */
export const lookAtTree = async (input: CommandInput, root: string, among?: ReadonlySet<string>): Promise<Standing> => {
  const rows = (await readAll(input, root)).filter(({ agent_id }) => among?.has(agent_id) ?? true)
  const working = rows.filter(isAtWork)
  const asked = working.slice(0, mostAsked)
  const reasons = await Promise.all(asked.map(({ agent_id }) => reasonsOf(input, agent_id)))
  const waits = new Map(asked.map(({ agent_id }, at) => [agent_id, reasons[at] ?? []]))
  return { text: drawTree(rows, waits), isOver: working.length === 0 }
}

const run = async (input: CommandInput): Promise<Json | void> => {
  const root = input.args['agent_id'] ?? ''
  if (input.output === 'json') return JSON.parse(JSON.stringify(await readAll(input, root)))
  if (input.flags['watch'] === true) return watchStanding(input, () => lookAtTree(input, root))
  input.print((await lookAtTree(input, root)).text)
}

export const treeCommand: Command = defineCommand({
  path: ['agents', 'tree'],
  summary: 'An agent with all below it, as a tree: who works, who waits for what, and what that has used.',
  args: ['agent_id'],
  flags: watchFlag,
  run,
  answer: array(AgentRow),
})
