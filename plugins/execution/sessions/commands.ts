import { array, defineCommand, open, optional, parse, string, number, nullable } from '../../../core/plugin.js'
import type { Command, CommandInput, Json } from '../../../core/plugin.js'

const sessionPath = (args: CommandInput['args']): string => `/v1/sessions/${encodeURIComponent(args['session_id'] ?? '')}`

const plain = (answer: Json): string => JSON.stringify(answer, null, 2)

const Rows = array(open({ session_id: string(), status: string(), pending_approvals: number(), pending_questions: number() }))
const Session = open({
  session_id: string(),
  snapshot: open({ agent: open({ status: string(), closed_at_ms: optional(number()) }), pending_approvals: array(open({ id: string() })), last_assistant_message: nullable(string()), last_error: nullable(string()) }),
})

const showSessions = (answer: Json): string => {
  const rows = parse(Rows, answer)
  if (!rows.ok) return plain(answer)
  if (rows.value.length === 0) return 'No sessions yet. Create one: holdfast sessions create'
  return rows.value.map((row) => `${row.session_id}  ${row.status}${row.pending_approvals + row.pending_questions > 0 ? `  waits for ${row.pending_approvals} approvals, ${row.pending_questions} questions` : ''}`).join('\n')
}

const showSession = (answer: Json): string => {
  const parsed = parse(Session, answer)
  if (!parsed.ok) return plain(answer)
  const { session_id, snapshot } = parsed.value
  const ended = snapshot.agent.closed_at_ms !== undefined
  return [
    `${session_id}  ${ended ? 'ended' : snapshot.agent.status}`,
    ...(snapshot.last_assistant_message === null ? [] : [`  said   ${snapshot.last_assistant_message}`]),
    ...(snapshot.last_error === null ? [] : [`  error  ${snapshot.last_error}`]),
    ...(snapshot.pending_approvals.length === 0 ? [] : ['  waits  holdfast approvals list']),
    ended ? `  next   open it again: holdfast sessions create ${session_id}` : `  next   holdfast runs submit ${session_id} TEXT`,
  ].join('\n')
}

const Log = open({ session: open({ journal: array(open({ seq: number(), type: string(), entry: open({}) })) }) })

const showLog = (answer: Json): string => {
  const parsed = parse(Log, answer)
  return parsed.ok ? parsed.value.session.journal.map(({ seq, type, entry }) => `${String(seq).padStart(6)}  ${type.padEnd(8)}  ${JSON.stringify(entry).slice(0, 160)}`).join('\n') : plain(answer)
}

export const sessionCommands: readonly Command[] = [
  defineCommand({
    path: ['sessions', 'list'], summary: 'Sessions by id.', flags: { limit: { kind: 'text', summary: 'Most sessions to show, at most 100.' } },
    run: ({ client, flags }) => client.get(`/v1/sessions?limit=${encodeURIComponent(String(flags['limit'] ?? 50))}`), show: showSessions,
  }),
  defineCommand({ path: ['sessions', 'get'], summary: 'One session.', args: ['session_id'], run: ({ client, args }) => client.get(sessionPath(args)), show: showSession }),
  defineCommand({
    path: ['sessions', 'create'], summary: 'Creates a session, or uses the one that has this id.', args: ['session_id?'],
    run: ({ client, args }) => client.send('POST', '/v1/sessions', args['session_id'] === undefined ? {} : { session_id: args['session_id'] }), show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'end'], summary: 'Ends a session and what runs in it.', args: ['session_id'], flags: { reason: { kind: 'text', summary: 'Kept with the session.' } },
    run: ({ client, args, flags }) => client.send('POST', `${sessionPath(args)}/end`, typeof flags['reason'] === 'string' ? { reason: flags['reason'] } : {}), show: showSession,
  }),
  defineCommand({
    path: ['sessions', 'interrupt'], summary: 'Ends the active run of a session.', args: ['session_id'],
    run: ({ client, args }) => client.send('POST', `${sessionPath(args)}/interrupt`),
    show: (answer) => (typeof answer === 'object' && answer !== null && !Array.isArray(answer) && answer['interrupted'] === true ? 'Interrupted.' : 'There was nothing to interrupt.'),
  }),
  defineCommand({ path: ['sessions', 'events'], summary: 'The journal of a session.', args: ['session_id'], run: ({ client, args }) => client.get(`${sessionPath(args)}/events`), show: showLog }),
]
