/** One agent as text for terminals. */
import {
  array,
  commandLine,
  count,
  idWord,
  integer,
  isJsonObject,
  json,
  namedLine,
  nullable,
  open,
  optional,
  parse,
  showTime,
  string,
  visibleLine,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'

/** A row of a list, as far as it is shown. */
export const AgentRow = open({
  agent_id: string(),
  parent_agent_id: optional(string()),
  session_id: string(),
  name: optional(string()),
  path: optional(string()),
  nickname: optional(string()),
  status: string(),
  closed_at_ms: optional(integer()),
  active_run_id: optional(string()),
  queued_run_count: integer(),
  pending_approval_count: integer(),
  pending_question_count: integer(),
  mailbox_message_count: integer(),
  last_run_status: optional(string()),
  last_error: optional(string()),
  last_output_preview: optional(string()),
  usage: optional(open({ input_tokens: integer(), output_tokens: integer(), cost_microusd: optional(integer()) })),
})
/** The value form of `AgentRow`. */
export type AgentRow = Infer<typeof AgentRow>

/** Closed agents read and do nothing more; an agent is idle again where its last run was ended before its end. */
export const statusWords = ({ status, closed_at_ms, last_run_status }: AgentRow): string[] => [
  status,
  ...(status === 'idle' && last_run_status !== undefined ? [`last run ${last_run_status}`] : []),
  ...(closed_at_ms === undefined ? [] : ['closed']),
]

export const AgentAnswer = open({
  agent: open({
    id: string(),
    parent: nullable(string()),
    status: string(),
    conversation: open({ session_id: string() }),
    spawned_at_ms: integer(),
    name: optional(string()),
    nickname: optional(string()),
    path: optional(string()),
    closed_at_ms: optional(integer()),
    subtasks: array(open({ name: string(), description: string(), input: string() })),
  }),
  last_assistant_message: nullable(string()),
  last_error: nullable(string()),
  row: optional(AgentRow),
})

/** A snapshot, for people with the agent's row of the list: that says what waits for it. */
export const withRow = async (
  { client, output }: Pick<CommandInput, 'client' | 'output'>,
  snapshot: Json,
  agent_id: string,
): Promise<Json> => {
  if (output === 'json' || !isJsonObject(snapshot)) return snapshot
  const path = `/v1/agents/summaries?page=true&limit=10&root=${encodeURIComponent(agent_id)}`
  const rows = parse(open({ items: array(json()) }), await client.get(path))
  const row = rows.ok ? rows.value.items.find((one) => isJsonObject(one) && one['agent_id'] === agent_id) : undefined
  return { ...snapshot, ...(row !== undefined && { row }) }
}

/** A line of what is shown of one agent; none for what it has not. */
export const line = namedLine(9)

const mailbox = (waiting: number): string | undefined =>
  waiting === 0 ? undefined : `${count(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'} for it`

export const showAgent = ({ agent, last_assistant_message, last_error, row }: Infer<typeof AgentAnswer>): string => {
  const { id, parent, status, conversation, spawned_at_ms, closed_at_ms, subtasks } = agent
  const words = row === undefined ? [status, ...(closed_at_ms === undefined ? [] : ['closed'])] : statusWords(row)
  return [
    `${visibleLine(id)}  ${words.join(', ')}`,
    ...line('name', agent.name),
    ...line('nickname', agent.nickname),
    ...line('path', agent.path),
    ...line('parent', parent),
    ...line('session', `${idWord(conversation.session_id)}, since ${showTime(spawned_at_ms)}`),
    ...line('run', row?.active_run_id),
    ...subtasks.flatMap(({ input }) => line('task', visibleLine(input))),
    ...line('mailbox', mailbox(row?.mailbox_message_count ?? 0)),
    ...line('said', last_assistant_message),
    ...line('error', last_error),
    ...line('closed', closed_at_ms === undefined ? undefined : `${showTime(closed_at_ms)}; it reads nothing more`),
    ...line('next', visibleLine(commandLine('explain', id))),
  ].join('\n')
}
