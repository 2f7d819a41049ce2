/** How many agents there are and what they do (agents-19). */
import { doc, integer, object, optional, string, unsafeCast, type StructOf } from '../../../../core/plugin.js'
import { agentStatuses } from '../../../execution/sessions/contract.js'
import type { StatusSection } from '../../../operator/status/contract.js'
import { countClosed, countLive, countMail, countStatuses, type CountParts } from './counts.js'

export interface SectionParts<L extends object> extends CountParts {
  /** How many another agent has started. */
  readonly started: () => number
  /** What could not be recorded. */
  readonly audit: { readonly failures: { readonly count: number; readonly last?: string } }
  readonly limits: { readonly schema: StructOf<L>; readonly value: L }
}

const count = (text: string) => doc(integer({ min: 0 }), text)

export const agentsSection = <L extends object>(parts: SectionParts<L>): StatusSection => ({
  name: 'agents',
  schema: object({
    total: count('Agents, one a session.'),
    live_runtime_count: count('Those that are not closed, and work, wait or are queued.'),
    sidechain_count: count('Those that another agent started.'),
    closed_count: count('Those whose session has ended.'),
    terminal_snapshot_count: count('Those that are completed or failed: what they show stays until a new run.'),
    mailbox_message_count: count('Messages that wait for agents.'),
    ...Object.fromEntries(agentStatuses.map((status) => [status, integer({ min: 0 })])),
    audit_sink_error_count: count('Events that could not be recorded since the start.'),
    last_audit_sink_error: optional(doc(string(), 'Why the last of them could not.')),
    spawn_policy: doc(parts.limits.schema, 'The limits of starts to which no rule gives others.'),
  }),
  collect: () => {
    const statuses = countStatuses(parts)
    const { failures } = parts.audit
    return {
      total: parts.sessions.collection.count('all', 'all'),
      live_runtime_count: countLive(parts),
      sidechain_count: parts.started(),
      closed_count: countClosed(parts),
      terminal_snapshot_count: statuses.completed + statuses.failed,
      mailbox_message_count: countMail(parts),
      ...statuses,
      audit_sink_error_count: failures.count,
      ...(failures.last !== undefined && { last_audit_sink_error: failures.last }),
      spawn_policy: unsafeCast(parts.limits.value),
    }
  },
})
