/** The floor from the command line. */
import {
  array,
  count,
  defineCommand,
  integer,
  isJsonObject,
  open,
  optional,
  parse,
  showTime,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
  type Json,
} from '../../../core/plugin.js'
import { followCommand } from './terminal/follow-command.js'

const Lease = open({
  turn_id: string(),
  thread_root_message_id: string(),
  holder_session_id: string(),
  active_run_id: string(),
  remaining_reply_budget: integer(),
  expires_at_ms: integer(),
  queued_candidate_session_ids: array(string()),
  /** Of its run, where it is told. */
  status: optional(string()),
})

type Lease = Infer<typeof Lease>

const whenOf = ({ status = 'running', expires_at_ms }: Lease): string =>
  status === 'running' ? `until ${showTime(expires_at_ms)}` : visibleLine(status)

/** Leases of which it is told how their run is. */
const mostLookedUp = 20

/** The time of a turn does not run while its run waits: its end moves on then. */
const statusOf = async ({ client }: CommandInput, run_id: string): Promise<string | undefined> => {
  const run = parse(
    open({ status: string() }),
    await client.get(`/v1/runs/${encodeURIComponent(run_id)}`).catch(() => null),
  )
  return run.ok ? run.value.status : undefined
}

const readLeases = async (input: CommandInput): Promise<Json> => {
  const { client, args, output } = input
  const answer = await client.get(`/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}/leases`)
  if (output === 'json' || !Array.isArray(answer)) return answer
  const told: Json[] = []
  for (const [at, lease] of answer.entries()) {
    const known = at < mostLookedUp ? parse(Lease, lease) : undefined
    const status = known?.ok === true ? await statusOf(input, known.value.active_run_id) : undefined
    told.push(isJsonObject(lease) && status !== undefined ? { ...lease, status } : lease)
  }
  return told
}

const show = (lease: Lease): string =>
  [
    `${lease.turn_id}  ${visibleLine(lease.holder_session_id)}, ${whenOf(lease)}`,
    `  thread ${visibleLine(lease.thread_root_message_id)}, run ${lease.active_run_id}`,
    `  ${count(lease.remaining_reply_budget, 'message')} left; next ${
      lease.queued_candidate_session_ids.map((id) => visibleLine(id)).join(', ') || 'nobody'
    }`,
  ].join('\n')

export const commands: readonly Command[] = [
  defineCommand({
    path: ['channels', 'leases'],
    route: 'GET /v1/channels/{channel_id}/leases',
    summary: 'Who has the floor in the threads of a channel, and who is asked next.',
    args: ['channel_id'],
    run: readLeases,
    answer: array(Lease),
    show: (leases) => (leases.length === 0 ? 'Nobody has the floor.' : leases.map(show).join('\n')),
  }),
  followCommand,
]
