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
import { wishOf } from '../grants/contract.js'
import { AskedApproval, showRequest } from '../runs/contract.js'
import { readInbox, showInbox } from './inbox.js'

const Run = open({ run_id: string(), pending_approvals: optional(array(AskedApproval)) })

const words = { allow: 'Allowed', deny: 'Denied' } as const

/** Decides on one request, or on all that the run waits for, and shows what was decided on. */
const decide =
  (behavior: 'allow' | 'deny') =>
  async ({ client, args, flags, output, print }: CommandInput): Promise<Json> => {
    const path = `/v1/runs/${encodeURIComponent(args['run_id'] ?? '')}`
    const run = parse(Run, await client.get(path))
    const waiting = run.ok ? (run.value.pending_approvals ?? []) : []
    const named = args['request_id']
    const ids = named === undefined ? waiting.map(({ id }) => id) : [named]
    const wish = wishOf({ flags })
    const grant = flags['always'] === true || Object.keys(wish).length > 0 ? { grant: wish } : {}
    const reason = typeof flags['reason'] === 'string' ? { reason: flags['reason'] } : {}
    const answer = await client.send('POST', `${path}/approvals`, {
      resolutions: ids.map((request_id) => ({ request_id, behavior, ...grant, ...reason })),
    })
    for (const request of output === 'pretty' ? waiting.filter(({ id }) => ids.includes(id)) : [])
      print([`${words[behavior]} ${request.id}`, ...showRequest(request)].join('\n'))
    return answer
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

const decision = {
  args: ['run_id', 'request_id?'],
  flags,
  fields: { 'body.resolutions': '<request_id>' },
  answer: Decided,
  show: showDecided,
}

export const commands: readonly Command[] = [
  defineCommand({ path: ['approvals'], ...inbox }),
  defineCommand({ path: ['approvals', 'list'], route: 'GET /v1/approvals', ...inbox }),
  defineCommand({
    path: ['approvals', 'allow'],
    route: 'POST /v1/runs/{run_id}/approvals',
    summary: 'Allows one request of a run, or all.',
    ...decision,
    flags: {
      ...flags,
      always: {
        kind: 'switch',
        summary: 'Such calls pass from now on in this session: what the request says it would cover.',
      },
      'command-prefix': { kind: 'text', summary: 'Like --always, for every command that begins with these words.' },
      hours: { kind: 'text', summary: 'Like --always, for so many hours.' },
    },
    fields: {
      ...decision.fields,
      'body.resolutions.*.grant': '--always',
      'body.resolutions.*.grant.command_prefix': '--command-prefix',
      'body.resolutions.*.grant.expires_in_ms': '--hours',
    },
    run: decide('allow'),
  }),
  defineCommand({
    path: ['approvals', 'deny'],
    summary: 'Denies one request of a run, or all.',
    ...decision,
    run: decide('deny'),
  }),
]
