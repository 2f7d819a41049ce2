/** Sessions as people read them on a terminal. */
import {
  array,
  nullable,
  number,
  open,
  optional,
  string,
  visibleLine,
  visibleBlock,
  commandLine,
  count,
  isJsonObject,
  parse,
  type CommandInput,
  type Infer,
  type Json,
  idWord,
} from '../../../../core/plugin.js'

export const sessionPath = (args: CommandInput['args']): string =>
  `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}`

export const SessionRow = open({
  session_id: string(),
  status: string(),
  pending_approvals: number(),
  pending_questions: number(),
  ended_at_ms: optional(number()),
})
export const SessionAnswer = open({
  session_id: string(),
  agent_id: string(),
  persona: optional(open({ display_name: string(), persona_version: number() })),
  route_policy: optional(
    open({ provider: optional(string()), generation: optional(open({ model: optional(string()) })) }),
  ),
  goal: optional(open({ status: string(), objective: string() })),
  tool_overrides: optional(open({ enable: array(string()), disable: array(string()) })),
  isolation: optional(string()),
  snapshot: open({
    agent: open({ status: string(), closed_at_ms: optional(number()) }),
    pending_approvals: array(open({ id: string() })),
    pending_questions: optional(array(open({ id: string() }))),
    last_assistant_message: nullable(string()),
    last_error: nullable(string()),
  }),
  agents_ask: optional(number()),
})

const Asked = array(open({ run_kind: string() }))
/** A session with the number of questions that agents below its own ask in it, where a person reads it. */
export const withAsked = async (
  { client, output, args }: Pick<CommandInput, 'client' | 'output' | 'args'>,
  session: Json,
): Promise<Json> => {
  if (output === 'json' || !isJsonObject(session)) return session
  const asked = parse(Asked, await client.get(`${sessionPath(args)}/questions`))
  const agents_ask = asked.ok ? asked.value.filter(({ run_kind }) => run_kind === 'parent_clarification').length : 0
  return { ...session, agents_ask }
}

export const showSessions = (rows: Infer<typeof SessionRow>[]): string => {
  if (rows.length === 0) return 'No sessions yet. Create one: holdfast sessions create'
  return rows
    .map((row) => {
      const waits = [
        ...(row.pending_approvals > 0 ? [count(row.pending_approvals, 'approval')] : []),
        ...(row.pending_questions > 0 ? [count(row.pending_questions, 'question')] : []),
      ]
      return (
        `${idWord(row.session_id)}  ${row.ended_at_ms === undefined ? row.status : 'ended'}` +
        (waits.length > 0 ? `  waits for ${waits.join(' and ')}` : '')
      )
    })
    .join('\n')
}

const toolsText = ({ disable, enable }: NonNullable<Infer<typeof SessionAnswer>['tool_overrides']>): string =>
  [
    ...(disable.length === 0 ? [] : [`off: ${disable.join(', ')}`]),
    ...(enable.length === 0 ? [] : [`on: ${enable.join(', ')}`]),
  ].join('; ')

export const showSession = (session: Infer<typeof SessionAnswer>): string => {
  const {
    session_id,
    snapshot,
    persona,
    route_policy,
    goal,
    tool_overrides: tools,
    isolation,
    agents_ask = 0,
  } = session
  const ended = snapshot.agent.closed_at_ms !== undefined
  const route =
    route_policy === undefined
      ? undefined
      : [route_policy.provider ?? 'default', route_policy.generation?.model ?? ''].join(' ').trim()
  return [
    `${idWord(session_id)}  ${ended ? 'ended' : snapshot.agent.status}`,
    `  agent  ${visibleLine(session.agent_id)}`,
    ...(persona === undefined
      ? []
      : [`  as     ${visibleLine(persona.display_name)}, version ${persona.persona_version}`]),
    ...(route === undefined ? [] : [`  route  ${visibleLine(route)}`]),
    ...(goal === undefined ? [] : [`  goal   ${visibleLine(`${goal.status}: ${goal.objective}`)}`]),
    ...(tools === undefined ? [] : [`  tools  ${visibleLine(toolsText(tools))}`]),
    ...(isolation === 'worktree' ? ['  works  each run in a git worktree of its own'] : []),
    ...(snapshot.last_assistant_message === null
      ? []
      : [`  said   ${visibleBlock(snapshot.last_assistant_message, 9)}`]),
    ...(snapshot.last_error === null ? [] : [`  error  ${visibleBlock(snapshot.last_error, 9)}`]),
    ...(snapshot.pending_approvals.length === 0 ? [] : ['  waits  holdfast approvals list']),
    ...((snapshot.pending_questions ?? []).length === 0 ? [] : ['  waits  holdfast questions list']),
    ...(agents_ask === 0 ? [] : [`  asked  ${count(agents_ask, 'question')} of agents: holdfast questions list`]),
    ended
      ? `  next   open it again: ${visibleLine(commandLine('sessions create', session_id))}`
      : `  next   ${visibleLine(commandLine('runs submit', session_id, 'TEXT'))}`,
  ].join('\n')
}
