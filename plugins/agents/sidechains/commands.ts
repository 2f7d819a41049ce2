/** Agents from the command line. */
import {
  boolean,
  commandErrors,
  cursorFlag,
  defineCommand,
  integer,
  listedRows,
  open,
  optional,
  pageFlags,
  readRows,
  showRows,
  showTime,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type JsonObject,
  idWord,
} from '../../../core/plugin.js'
import { agentRetentions, agentStatuses } from '../../execution/sessions/contract.js'
import { agentProfiles } from './contract.js'
import { agentAuditEvents } from './supervision/audit.js'
import { treeCommand } from './terminal/tree-command.js'
import { permissionModes } from '../../execution/tools/contract.js'
import { AgentAnswer, AgentRow, showAgent, statusWords, withRow } from './terminal/agent-text.js'
import { AgentForecast, AgentQuotas, showForecast, showQuotas } from './terminal/spawn-text.js'

const counted = (count: number, what: string): string[] => (count === 0 ? [] : [`${count} ${what}`])

/** What it is called, what it does, and what it waits for. */
const standing = (row: AgentRow): string => {
  const { agent_id, session_id, name, path, nickname, last_error } = row
  return [
    nickname ?? path ?? name ?? session_id,
    statusWords(row).join(', '),
    ...counted(row.queued_run_count, 'queued'),
    ...counted(row.pending_approval_count, 'to approve'),
    ...counted(row.pending_question_count, 'to answer'),
    ...counted(row.mailbox_message_count, 'in its mailbox'),
    ...(last_error === undefined ? [] : [last_error]),
    agent_id,
  ]
    .map((text) => visibleLine(text))
    .join('  ')
}

const showList = (rows: AgentRow[]): string => (rows.length === 0 ? 'No agents.' : rows.map(standing).join('\n'))

const at = (agent_id: string | undefined): string => `/v1/agents/${encodeURIComponent(agent_id ?? '')}`

const listing = {
  summary: 'Agents in order of their start, with what they do and wait for.',
  flags: {
    root: { kind: 'text' as const, value: 'agent', summary: 'Only this agent and those below it.' },
    status: { kind: 'text' as const, summary: 'Only agents in this state.' },
    limit: { kind: 'text' as const, value: 'number', summary: 'Most agents to show; more than 100 are 100.' },
    ...cursorFlag,
  },
  choices: { status: agentStatuses },
  run: (input: CommandInput) => {
    const query = new URLSearchParams({ limit: '100' })
    for (const name of ['root', 'status', 'limit'] as const) {
      const given = input.flags[name]
      if (typeof given === 'string') query.set(name, given)
    }
    return readRows(input, `/v1/agents/summaries?${query.toString()}`)
  },
  answer: listedRows(AgentRow),
  show: showRows(showList),
}

const allowance = ({ mode, route, type, cwd }: CommandInput['flags']): JsonObject => ({
  ...(typeof type === 'string' && { agent_type: type }),
  ...(typeof cwd === 'string' && { cwd }),
  ...(typeof mode === 'string' && { permission_mode: mode }),
  ...(typeof route === 'string' && { route_policy: { provider: route } }),
})
const allowanceFlags = {
  mode: { kind: 'text' as const, summary: 'Its permission mode, at most as permissive as that of its parent.' },
  route: { kind: 'text' as const, summary: 'Its model route.' },
  type: { kind: 'text' as const, summary: 'What it is there for; default when absent.' },
  cwd: { kind: 'text' as const, value: 'folder', summary: 'The folder that it works in, within that of its parent.' },
}
const allowanceChoices = { mode: permissionModes, type: agentProfiles }
const allowanceFields = {
  'body.permission_mode': '--mode',
  'body.route_policy.provider': '--route',
  'body.provider': '--route',
  'body.agent_type': '--type',
  'body.cwd': '--cwd',
}

const spawnBody = ({ args, flags }: CommandInput): JsonObject => {
  const { nickname, retention } = flags
  return {
    subtask: { name: args['name'] ?? '', content: args['content'] ?? '' },
    ...(typeof nickname === 'string' && { nickname }),
    ...(typeof retention === 'string' && { retention }),
    ...allowance(flags),
  }
}

const AgentEvent = open({
  recorded_at_ms: integer(),
  event: string(),
  agent_id: string(),
  parent_agent_id: optional(string()),
  nickname: optional(string()),
  declined: optional(boolean()),
  decided_by: optional(string()),
  code: optional(string()),
  reason: optional(string()),
})

type AgentEvent = Infer<typeof AgentEvent>

/** How a question ended. */
const endOf = ({ declined, decided_by }: AgentEvent): string | undefined =>
  declined === undefined ? undefined : `${declined ? 'declined' : 'answered'} by ${decided_by ?? '?'}`

const showEvent = (one: AgentEvent): string => {
  const { recorded_at_ms, event, agent_id, parent_agent_id: parent, nickname, code, reason } = one
  const below = parent === undefined ? undefined : `below ${parent}`
  return [showTime(recorded_at_ms), event, agent_id, below, nickname, endOf(one), code, reason]
    .flatMap((part) => (part === undefined ? [] : [visibleLine(part)]))
    .join('  ')
}

/** The route of one agent has no filter. */
const auditPath = ({ args: { agent_id }, flags: { event } }: CommandInput): string => {
  if (typeof event !== 'string') return agent_id === undefined ? '/v1/agents/audit' : `${at(agent_id)}/audit`
  if (agent_id === undefined) return `/v1/agents/audit?event=${encodeURIComponent(event)}`
  throw commandErrors.flag_invalid({ details: { flag: 'event', problem: 'does not go with <agent_id>' } })
}

const Child = open({ session_id: string(), agent_id: string() })

export const commands: readonly Command[] = [
  defineCommand({ path: ['agents', 'list'], ...listing }),
  defineCommand({
    path: ['agents', 'summaries'],
    route: 'GET /v1/agents/summaries',
    ...listing,
    summary: 'The same as agents list, under the name of its route.',
  }),
  treeCommand,
  defineCommand({
    path: ['agents', 'get'],
    route: 'GET /v1/agents/{agent_id}',
    summary: 'One agent: what it is called, does and said last, and what waits for it.',
    args: ['agent_id'],
    run: async (input) => {
      const { agent_id = '' } = input.args
      return withRow(input, await input.client.get(at(agent_id)), agent_id)
    },
    answer: AgentAnswer,
    show: showAgent,
  }),
  defineCommand({
    path: ['agents', 'audit'],
    route: 'GET /v1/agents/audit',
    summary: 'What became of agents, or of one and those that it started, newest first.',
    args: ['agent_id?'],
    flags: { event: { kind: 'text', summary: 'Only events of this kind, of all agents.' }, ...pageFlags },
    choices: { event: agentAuditEvents },
    run: (input) => readRows(input, auditPath(input)),
    answer: listedRows(AgentEvent),
    show: showRows((events) => (events.length === 0 ? 'Nothing yet.' : events.map(showEvent).join('\n'))),
  }),
  defineCommand({
    path: ['agents', 'spawn'],
    route: 'POST /v1/agents/{agent_id}/sidechains',
    summary: 'Starts an agent below another one.',
    args: ['agent_id', 'name', 'content'],
    flags: {
      nickname: { kind: 'text', summary: 'What people call it.' },
      retention: { kind: 'text', summary: 'What becomes of it when its work is done.' },
      ...allowanceFlags,
    },
    choices: { retention: agentRetentions, ...allowanceChoices },
    fields: {
      ...allowanceFields,
      'body.nickname': '--nickname',
      'body.subtask.name': '<name>',
      'body.subtask.content': '<content>',
    },
    run: (input) => input.client.send('POST', `${at(input.args['agent_id'])}/sidechains`, spawnBody(input)),
    answer: Child,
    show: ({ session_id, agent_id }) => `${agent_id} in session ${idWord(session_id)}`,
  }),
  defineCommand({
    path: ['agents', 'explain'],
    route: 'POST /v1/agents/{agent_id}/sidechains/explain',
    summary:
      'What an agent below another one would be, or why it would not be started, with exit code 1; nothing is started.',
    args: ['agent_id'],
    flags: allowanceFlags,
    choices: allowanceChoices,
    fields: allowanceFields,
    run: ({ client, args, flags }) =>
      client.send('POST', `${at(args['agent_id'])}/sidechains/explain`, allowance(flags)),
    answer: AgentForecast,
    show: showForecast,
    status: ({ allowed }) => (allowed ? 0 : 1),
  }),
  defineCommand({
    path: ['agents', 'nickname'],
    route: 'POST /v1/agents/{agent_id}/nickname',
    summary: 'Calls an agent by a name for people; without a name, the one that it has is taken away.',
    args: ['agent_id', 'nickname?'],
    run: async (input) => {
      const { agent_id = '', nickname } = input.args
      const path = `${at(agent_id)}/nickname`
      const { client } = input
      const snapshot =
        nickname === undefined ? await client.send('DELETE', path) : await client.send('POST', path, { nickname })
      return withRow(input, snapshot, agent_id)
    },
    answer: AgentAnswer,
    show: showAgent,
  }),
  defineCommand({
    path: ['agents', 'quotas'],
    route: 'GET /v1/runtime/subagent-policy/quotas',
    summary: 'How many agents may be started, and how much of that is used.',
    run: ({ client }) => client.get('/v1/runtime/subagent-policy/quotas'),
    answer: AgentQuotas,
    show: showQuotas,
  }),
]
