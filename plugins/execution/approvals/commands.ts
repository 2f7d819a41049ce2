import {
  array,
  commandLine,
  defineCommand,
  open,
  optional,
  parse,
  string,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { readInbox, showInbox } from './inbox.js'

const Run = open({ run_id: string(), pending_approvals: optional(array(open({ id: string() }))) })

/** Decides on one request, or on all that the run waits for. */
const decide =
  (behavior: 'allow' | 'deny') =>
  async ({ client, args, flags }: CommandInput): Promise<Json> => {
    const path = `/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}`
    const run = parse(Run, await client.get(path))
    const open_ = run.ok ? (run.value.pending_approvals ?? []).map(({ id }) => id) : []
    const ids = args['request_id'] === undefined ? open_ : [args['request_id']]
    const reason = typeof flags['reason'] === 'string' ? { reason: flags['reason'] } : {}
    return client.send('POST', `${path}/approvals`, {
      resolutions: ids.map((request_id) => ({ request_id, behavior, ...reason })),
    })
  }

const Decided = open({ run_id: string(), status: string() })
const showDecided = ({ run_id, status }: Infer<typeof Decided>): string =>
  `${run_id}  ${status}\n  ${commandLine('runs watch', run_id)}`

const inbox = {
  summary:
    'Everything that waits for a person: tool calls and questions of all sessions, with the commands that answer them.',
  flags: { 'session-id': { kind: 'text' as const, summary: 'Only what this session waits for.' } },
  run: readInbox,
  show: showInbox,
}

const flags = { reason: { kind: 'text' as const, summary: 'Told to the model when you deny; kept in the journal.' } }

export const approvalCommands: readonly Command[] = [
  defineCommand({ path: ['approvals'], ...inbox }),
  defineCommand({ path: ['approvals', 'list'], ...inbox }),
  defineCommand({
    path: ['approvals', 'allow'],
    summary: 'Allows one request of a run, or all.',
    args: ['run_id', 'request_id?'],
    flags,
    run: decide('allow'),
    answer: Decided,
    show: showDecided,
  }),
  defineCommand({
    path: ['approvals', 'deny'],
    summary: 'Denies one request of a run, or all.',
    args: ['run_id', 'request_id?'],
    flags,
    run: decide('deny'),
    answer: Decided,
    show: showDecided,
  }),
]
