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
import type { ShownReason } from '../../../operator/explanations/contract.js'
import { AgentRow } from './agent-text.js'
import { askingLines, drawTree, ownReasons, Waits, type Reasons } from './tree.js'

const Page = open({ items: array(AgentRow), pagination: open({ next_cursor: optional(string()) }) })

/** Agents of a tree that a screen shows at once: in a larger one those that ask people stand above it too. */
const screenful = 5
/** Agents at work of which it is asked what they wait for, and of how many at once. */
const [mostAsked, askedAtOnce] = [50, 8]

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

const asksPeople = ({ pending_approval_count, pending_question_count }: AgentRow): boolean =>
  pending_approval_count + pending_question_count > 0

/** Of those that ask people before others. */
const waitsOf = async (input: CommandInput, working: readonly AgentRow[]): Promise<Reasons> => {
  const asked = [...working.filter(asksPeople), ...working.filter((row) => !asksPeople(row))].slice(0, mostAsked)
  const waits = new Map<string, readonly ShownReason[]>()
  for (let from = 0; from < asked.length; from += askedAtOnce) {
    const portion = asked.slice(from, from + askedAtOnce)
    const reasons = await Promise.all(portion.map(({ agent_id }) => reasonsOf(input, agent_id)))
    portion.forEach(({ agent_id }, at) => waits.set(agent_id, reasons[at] ?? []))
  }
  return waits
}

/** The tree below an agent, or of those in it that are named. */
export const lookAtTree = async (input: CommandInput, root: string, among?: ReadonlySet<string>): Promise<Standing> => {
  const rows = (await readAll(input, root)).filter(({ agent_id }) => among?.has(agent_id) ?? true)
  const working = rows.filter(isAtWork)
  const waits = await waitsOf(input, working)
  const unasked = working.length - waits.size
  const text = [
    ...askingLines(rows.length > screenful ? working.filter(asksPeople) : [], waits),
    drawTree(rows, waits),
    ...(unasked === 0 ? [] : [`Of ${unasked} more at work, holdfast explain AGENT tells what they wait for.`]),
  ]
  return { text: text.join('\n'), isOver: working.length === 0 }
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
