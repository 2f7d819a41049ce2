import { array, defineCommand, json, open, optional, parse, string } from '../../../core/plugin.js'
import type { Client, Command, CommandInput, Json } from '../../../core/plugin.js'

const Waiting = open({ run_id: string(), session_id: string(), pending_approvals: optional(array(open({ id: string(), tool_name: string(), input: json() }))) })

const waiting = async (client: Client): Promise<Json> => {
  const runs = await client.get('/v1/runs?priority_active=true&limit=100')
  const parsed = parse(array(Waiting), runs)
  if (!parsed.ok) return runs
  return parsed.value.flatMap(({ run_id, session_id, pending_approvals = [] }) => pending_approvals.map(({ id, tool_name, input }) => ({ run_id, session_id, request_id: id, tool_name, input })))
}

const Rows = array(open({ run_id: string(), request_id: string(), tool_name: string(), input: json() }))

const show = (answer: Json): string => {
  const rows = parse(Rows, answer)
  if (!rows.ok) return JSON.stringify(answer, null, 2)
  if (rows.value.length === 0) return 'Nothing waits for approval.'
  return rows.value.map(({ run_id, request_id, tool_name, input }) => `${tool_name} ${JSON.stringify(input).slice(0, 200)}\n  holdfast approvals allow ${run_id} ${request_id}\n  holdfast approvals deny ${run_id} ${request_id}`).join('\n')
}

/** Decides on one request, or on all that the run waits for. */
const decide = (behavior: 'allow' | 'deny') => async ({ client, args, flags }: CommandInput): Promise<Json> => {
  const path = `/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}`
  const run = parse(Waiting, await client.get(path))
  const open_ = run.ok ? (run.value.pending_approvals ?? []).map(({ id }) => id) : []
  const ids = args['request_id'] === undefined ? open_ : [args['request_id']]
  const reason = typeof flags['reason'] === 'string' ? { reason: flags['reason'] } : {}
  return client.send('POST', `${path}/approvals`, { resolutions: ids.map((request_id) => ({ request_id, behavior, ...reason })) })
}

const Decided = open({ run_id: string(), status: string() })
const showDecided = (answer: Json): string => {
  const parsed = parse(Decided, answer)
  return parsed.ok ? `${parsed.value.run_id}  ${parsed.value.status}\n  holdfast runs watch ${parsed.value.run_id}` : JSON.stringify(answer, null, 2)
}

const flags = { reason: { kind: 'text' as const, summary: 'Told to the model when you deny; kept in the journal.' } }

export const approvalCommands: readonly Command[] = [
  defineCommand({ path: ['approvals', 'list'], summary: 'Tool calls that wait for permission.', run: ({ client }) => waiting(client), show }),
  defineCommand({ path: ['approvals', 'allow'], summary: 'Allows one request of a run, or all.', args: ['run_id', 'request_id?'], flags, run: decide('allow'), show: showDecided }),
  defineCommand({ path: ['approvals', 'deny'], summary: 'Denies one request of a run, or all.', args: ['run_id', 'request_id?'], flags, run: decide('deny'), show: showDecided }),
]
