/** Agents from the command line. */
import {
  array,
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
} from '../../../core/plugin.js'
import { agentRetentions, agentStatuses } from '../../execution/sessions/contract.js'
import { treeCommand } from './terminal/tree-command.js'
import { permissionModes } from '../../execution/tools/contract.js'

const Row = open({
  agent_id: string(),
  parent_agent_id: optional(string()),
  session_id: string(),
  name: optional(string()),
  path: optional(string()),
  nickname: optional(string()),
  status: string(),
  queued_run_count: integer(),
  pending_approval_count: integer(),
  pending_question_count: integer(),
  mailbox_message_count: integer(),
  last_error: optional(string()),
  last_output_preview: optional(string()),
  last_activity_at_ms: optional(integer()),
})
type Row = Infer<typeof Row>

const counted = (count: number, what: string): string[] => (count === 0 ? [] : [`${count} ${what}`])

/** What it is called, what it does, and what it waits for. */
const standing = (row: Row): string => {
  const { agent_id, session_id, name, path, nickname, status, last_error } = row
  return [
    nickname ?? path ?? name ?? session_id,
    status,
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

const showList = (rows: Row[]): string => (rows.length === 0 ? 'No agents.' : rows.map(standing).join('\n'))

const at = (agent_id: string | undefined): string => `/v1/agents/${encodeURIComponent(agent_id ?? '')}`

const Snapshot = open({
  agent: open({
    id: string(),
    status: string(),
    conversation: open({ session_id: string() }),
    spawned_at_ms: integer(),
    path: optional(string()),
    subtasks: array(open({ name: string(), description: string(), input: string() })),
  }),
})

const showSnapshot = ({ agent }: Infer<typeof Snapshot>): string =>
  [
    `${agent.id}  ${agent.status}`,
    `  session ${visibleLine(agent.conversation.session_id)}, since ${showTime(agent.spawned_at_ms)}`,
    ...agent.subtasks.map(({ name, input }) => `  ${visibleLine(name)}: ${visibleLine(input)}`),
  ].join('\n')

const listing = {
  summary: 'Agents in order of their start, with what they do and wait for.',
  flags: {
    root: { kind: 'text' as const, value: 'agent', summary: 'Only this agent and those below it.' },
    status: { kind: 'text' as const, summary: 'Only agents in this state.' },
    limit: { kind: 'text' as const, summary: 'Most agents to show, at most 100.' },
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
  answer: listedRows(Row),
  show: showRows(showList),
}

const spawnBody = ({ args, flags }: CommandInput): JsonObject => {
  const { nickname, retention, mode, route } = flags
  return {
    subtask: { name: args['name'] ?? '', content: args['content'] ?? '' },
    ...(typeof nickname === 'string' && { nickname }),
    ...(typeof retention === 'string' && { retention }),
    ...(typeof mode === 'string' && { permission_mode: mode }),
    ...(typeof route === 'string' && { route_policy: { provider: route } }),
  }
}

const AgentEvent = open({
  recorded_at_ms: integer(),
  event: string(),
  agent_id: string(),
  nickname: optional(string()),
  code: optional(string()),
  reason: optional(string()),
})

const showEvent = ({ recorded_at_ms, event, agent_id, nickname, code, reason }: Infer<typeof AgentEvent>): string =>
  [showTime(recorded_at_ms), event, agent_id, nickname, code, reason]
    .flatMap((part) => (part === undefined ? [] : [visibleLine(part)]))
    .join('  ')

const Child = open({ session_id: string(), agent_id: string() })

export const commands: readonly Command[] = [
  defineCommand({ path: ['agents', 'list'], ...listing }),
  defineCommand({ path: ['agents', 'summaries'], route: 'GET /v1/agents/summaries', ...listing }),
  treeCommand,
  defineCommand({
    path: ['agents', 'get'],
    route: 'GET /v1/agents/{agent_id}',
    summary: 'One agent.',
    args: ['agent_id'],
    run: ({ client, args }) => client.get(at(args['agent_id'])),
    answer: Snapshot,
    show: showSnapshot,
  }),
  defineCommand({
    path: ['agents', 'audit'],
    route: 'GET /v1/agents/audit',
    summary: 'What became of agents, or of one and those that it started, newest first.',
    args: ['agent_id?'],
    flags: pageFlags,
    run: (input) => {
      const { agent_id } = input.args
      return readRows(input, agent_id === undefined ? '/v1/agents/audit' : `${at(agent_id)}/audit`)
    },
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
      mode: { kind: 'text', summary: 'Its permission mode, at most as permissive as that of its parent.' },
      route: { kind: 'text', summary: 'Its model route.' },
    },
    choices: { retention: agentRetentions, mode: permissionModes },
    fields: {
      'body.permission_mode': '--mode',
      'body.nickname': '--nickname',
      'body.route_policy.provider': '--route',
      'body.subtask.name': '<name>',
      'body.subtask.content': '<content>',
    },
    run: (input) => input.client.send('POST', `${at(input.args['agent_id'])}/sidechains`, spawnBody(input)),
    answer: Child,
    show: ({ session_id, agent_id }) => `${agent_id} in session ${visibleLine(session_id)}`,
  }),
]
