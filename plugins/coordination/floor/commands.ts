/** The floor from the command line. */
import {
  array,
  count,
  defineCommand,
  integer,
  open,
  showTime,
  string,
  visibleLine,
  type Command,
  type Infer,
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
})

const show = (lease: Infer<typeof Lease>): string =>
  [
    `${lease.turn_id}  ${visibleLine(lease.holder_session_id)}, until ${showTime(lease.expires_at_ms)}`,
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
    run: ({ client, args }) => client.get(`/v1/channels/${encodeURIComponent(args['channel_id'] ?? '')}/leases`),
    answer: array(Lease),
    show: (leases) => (leases.length === 0 ? 'Nobody has the floor.' : leases.map(show).join('\n')),
  }),
  followCommand,
]
