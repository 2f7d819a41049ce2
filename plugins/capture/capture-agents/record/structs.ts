/** What capture agents, their leases and their alerts are. */
import {
  array,
  doc,
  enums,
  integer,
  literal,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import { sourceKinds } from '../../observations/contract.js'
import { osProfiles } from '../client/agent-file.js'

/** Whether an agent may capture. */
export const agentStatuses = ['active', 'revoked'] as const
/** How an agent lives: `pending` has not been heard yet, `missing` not in time. */
export const heartbeatStates = ['pending', 'healthy', 'missing', 'revoked'] as const

/** What lets an agent upload to one of its sources for a time; never its token (capture-4). */
export const CaptureLease = named(
  'CaptureLease',
  object({
    lease_id: string(),
    source_id: string(),
    kind: enums(sourceKinds),
    upload_token_version: doc(integer({ min: 1 }), 'Of the source, when it was issued.'),
    issued_at_ms: timestamp(),
    expires_at_ms: timestamp(),
    revoked_at_ms: optional(timestamp()),
    superseded_by: optional(doc(string(), 'The lease that came in its place.')),
  }),
)
/** The value form of `CaptureLease`. */
export type CaptureLease = Infer<typeof CaptureLease>

const heardFields = {
  heartbeat_deadline_ms: doc(timestamp(), 'Without a heartbeat until then the agent is missing.'),
  heartbeat_state: enums(heartbeatStates),
  last_heartbeat_at_ms: optional(timestamp()),
  last_heartbeat_agent_version: optional(string()),
  last_heartbeat_observed_source_ids: optional(doc(array(string()), 'Sources that saw something.')),
  last_heartbeat_unobserved_source_ids: optional(doc(array(string()), 'Its other sources, where it named any.')),
}

/** A capture agent, as it is shown (capture-4). */
export const CaptureAgent = named(
  'CaptureAgent',
  object({
    machine_id: string(),
    batch_id: doc(string(), 'The batch that provisioned it last.'),
    provision_fingerprint_sha256: optional(doc(string(), 'Of the request of that batch.')),
    os_profile: enums(osProfiles),
    status: enums(agentStatuses),
    source_ids: array(string()),
    leases: doc(array(CaptureLease), 'The newest hundred, oldest first.'),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    heartbeat_interval_ms: integer({ min: 1 }),
    heartbeat_grace_ms: integer({ min: 1 }),
    heartbeat_token_version: doc(integer({ min: 1 }), 'Raised each time that it is provisioned.'),
    ...heardFields,
    heartbeat_missing_since_ms: optional(doc(timestamp(), 'When it was found missing.')),
    token_expires_at_ms: optional(timestamp()),
    revoked_at_ms: optional(timestamp()),
    revoked_reason: optional(string()),
  }),
)
/** The value form of `CaptureAgent`. */
export type CaptureAgent = Infer<typeof CaptureAgent>

/** What an agent is answered (capture-7). */
export const HeartbeatReply = named(
  'CaptureHeartbeatReply',
  object({
    machine_id: string(),
    status: enums(agentStatuses),
    heartbeat_state: enums(heartbeatStates),
    last_heartbeat_at_ms: timestamp(),
    heartbeat_deadline_ms: timestamp(),
    agent_version: optional(string()),
    observed_source_ids: optional(array(string())),
    unobserved_source_ids: optional(array(string())),
  }),
)
/** The value form of `HeartbeatReply`. */
export type HeartbeatReply = Infer<typeof HeartbeatReply>

/** An agent that has not been heard in time (capture-9). */
export const CaptureAlert = named(
  'CaptureAlert',
  object({
    machine_id: string(),
    kind: literal('missing_heartbeat'),
    severity: literal('warning'),
    message: string(),
    detected_at_ms: timestamp(),
    heartbeat_deadline_ms: timestamp(),
  }),
)
/** The value form of `CaptureAlert`. */
export type CaptureAlert = Infer<typeof CaptureAlert>
