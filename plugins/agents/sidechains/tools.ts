/** What agents do with agents (agents-14 to agents-16). */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  object,
  optional,
  string,
  unsafeCast,
  type Json,
} from '../../../core/plugin.js'
import { agentStatuses, type SessionRecord } from '../../execution/sessions/contract.js'
import { defineTool, type Tool, type ToolCall, type ToolOutcome } from '../../execution/tools/contract.js'
import { lookUp } from './directory.js'
import { agentErrors } from './bounds/errors.js'
import { rootOf } from './limits.js'
import { spawnTool } from './spawn-tool.js'
import type { Agent } from './store.js'
import { summaryOf } from './views.js'
import { endOf, waitFor, type WaitParts } from './waiting.js'

const looking = {
  effect: 'read',
  permission: 'allow',
  parallel: true,
  in_plan_mode: true,
  timeout_ms: 10_000,
  sandbox: 'read_only',
} as const

const result = (output: unknown): ToolOutcome => ({ type: 'result', output: unsafeCast<Json>(output) })
const AgentId = string({ min: 1, max: 400 })
const mostListed = 100

/** The agent of a call. */
const selfOf = ({ store, sessions }: WaitParts, { session_id }: ToolCall): Agent => store.of(sessions.get(session_id))

/** Neither this agent, nor one above it: it is not at rest before this call is over. Throws `agent_waits_above`. */
const checkBelow = ({ store }: WaitParts, { session_id }: ToolCall, wanted: SessionRecord): void => {
  for (let at: string | undefined = session_id; at !== undefined; at = store.find(at)?.parent_session_id)
    if (at === wanted.session_id) throw agentErrors.agent_waits_above({ details: { agent_id: wanted.agent_id } })
}

/** One of the same tree; of others an agent learns nothing. Throws `agent_not_found`. */
const relative = (parts: WaitParts, call: ToolCall, agent_id: string): SessionRecord => {
  const found = parts.store.get(agent_id)
  if (rootOf(found) !== rootOf(selfOf(parts, call))) throw agentErrors.agent_not_found({ details: { agent_id } })
  return found.session
}

const filter = {
  status: optional(enums(agentStatuses)),
  has_runtime: optional(doc(boolean(), 'Only agents that work, wait or are queued, or only the others.')),
}

const listAgents = (parts: WaitParts): Tool =>
  defineTool({
    ...looking,
    name: 'list_agents',
    seldom: true,
    description: `Lists the agents of your tree: who you are, and ids, names and states of all, at most ${mostListed}.`,
    input: object(filter),
    run: async (wish, call) => {
      const self = selfOf(parts, call)
      const { found, counts } = await lookUp(parts, { root_agent_id: rootOf(self), ...wish })
      const agents = found.slice(-mostListed).map((session) => {
        const { agent_id, parent_agent_id, name, path, nickname, status } = summaryOf(parts, session)
        return { agent_id, parent_agent_id, name, path, nickname, status }
      })
      const you = { agent_id: self.session.agent_id, parent_agent_id: self.spawned?.parent_agent_id }
      return result({ you, agents, counts })
    },
  })

const listSummaries = (parts: WaitParts): Tool =>
  defineTool({
    ...looking,
    name: 'list_agent_summaries',
    seldom: true,
    description:
      'Lists the agents of your tree with what they said last and what they wait for, ' + `at most ${mostListed}.`,
    input: object(filter),
    run: async (wish, call) => {
      const { found, counts } = await lookUp(parts, { root_agent_id: rootOf(selfOf(parts, call)), ...wish })
      return result({ items: found.slice(-mostListed).map((session) => summaryOf(parts, session)), counts })
    },
  })

const getAgent = (parts: WaitParts): Tool =>
  defineTool({
    ...looking,
    name: 'get_agent',
    seldom: true,
    description: 'Reads one agent of your tree: its state, and the answer that it ended with.',
    input: object({ agent_id: AgentId }),
    run: ({ agent_id }, call) => {
      const session = relative(parts, call, agent_id)
      return result({ ...summaryOf(parts, session), ...endOf(parts, session) })
    },
  })

const waitAgent = (parts: WaitParts): Tool =>
  defineTool({
    ...looking,
    name: 'wait_agent',
    seldom: true,
    description:
      'Waits until agents have done their work, and tells what they ended with. What is not over in time goes on: ' +
      'wait again, or do something else meanwhile.',
    input: object({
      agent_ids: optional(
        doc(
          array(AgentId, { min: 1, max: 50 }),
          'When absent those that this run started, and your others that work now.',
        ),
      ),
      mode: optional(doc(enums(['all', 'any']), 'all when absent.')),
      timeout_ms: optional(doc(integer({ min: 0, max: 110_000 }), 'Milliseconds; 60000 when absent.')),
    }),
    timeout_ms: 120_000,
    run: async ({ agent_ids, mode = 'all', timeout_ms = 60_000 }, call) => {
      const ids = agent_ids ?? childrenOf(parts, call)
      const wanted = ids.map((agent_id) => relative(parts, call, agent_id))
      for (const session of wanted) checkBelow(parts, call, session)
      const session_ids = wanted.map(({ session_id }) => session_id)
      await waitFor(parts, call, { session_ids, how: mode, timeout_ms })
      const agents = ids.map((agent_id) => ({ agent_id, ...endOf(parts, relative(parts, call, agent_id)) }))
      const working = agents.filter(({ has_runtime }) => has_runtime).length
      return result({ agents, timed_out: working > 0 && (mode === 'all' || working === agents.length) })
    },
  })

/** Those that the run of a call has started, and the others of its agent that work. */
const childrenOf = ({ store }: WaitParts, { run_id, session_id }: ToolCall): readonly string[] => {
  const started = store.collection.ids('run', run_id).flatMap((id) => store.find(id) ?? [])
  const working = store.live().filter((record) => record.parent_session_id === session_id && record.is_hook !== true)
  return [...new Set([...started, ...working].map(({ agent_id }) => agent_id))]
}

export const agentTools = (parts: WaitParts): readonly Tool[] => [
  spawnTool(parts),
  waitAgent(parts),
  listAgents(parts),
  listSummaries(parts),
  getAgent(parts),
]
