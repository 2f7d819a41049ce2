/** What sources, observations and the audit of both are. */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'

/** What a source can be. */
export const sourceKinds = ['screen_snapshot', 'webcam_snapshot', 'microphone_segment'] as const
/** One of them. */
export type SourceKind = (typeof sourceKinds)[number]
/** Whether a source takes uploads: only an active one does. */
export const sourceStatuses = ['active', 'paused', 'disabled'] as const
/** How careful one has to be with what a source sees. */
export const sensitivities = ['standard', 'sensitive'] as const
/** Whether an observation can still be used. */
export const retentionStates = ['active', 'purged'] as const

/** What ids of sources are, in words. */
export const sourceIdRule = 'must be of letters, digits, dots, underscores and hyphens alone, and not . or ..'
/** Letters, digits, dots, underscores and dashes, up to 128; not a dot segment. */
export const sourceIdPattern = '^(?:\\.*[A-Za-z0-9_-][A-Za-z0-9._-]*|\\.{3,})$'
/** The id of a source, as callers choose it. */
export const SourceId = string({ max: 128, pattern: sourceIdPattern, told: sourceIdRule })
/** The id of a stream of a source. */
export const StreamId = string({
  pattern: '^[A-Za-z0-9._:-]{1,128}$',
  told: 'must be of 1 to 128 letters, digits and . _ : - alone',
})

const positive = () => integer({ min: 1 })
/** What operators set of a source. */
export const limitFields = {
  retention_seconds: doc(positive(), 'How long an observation is active, from when it was received.'),
  max_active_observations: doc(positive(), 'Beyond so many the one captured first is purged.'),
  max_active_bytes: doc(positive(), 'Beyond so many bytes the one captured first is purged.'),
  ingest_rate_limit_window_ms: doc(positive(), 'The window in which uploads are counted.'),
  ingest_rate_limit_burst: doc(positive(), 'New uploads in one window.'),
  purge_raw_on_retention: doc(boolean(), 'The files of a purged observation are deleted if nothing else names them.'),
  allow_materialization: doc(boolean(), 'Its observations may be given to runs.'),
  allow_output_delivery: doc(boolean(), 'Outputs of such runs may leave the daemon.'),
}

/** A source as it is shown: never a token (observations-1). */
export const ObservationSourceView = named(
  'ObservationSourceView',
  object({
    source_id: string(),
    display_name: string(),
    kind: enums(sourceKinds),
    status: enums(sourceStatuses),
    sensitivity: enums(sensitivities),
    ...limitFields,
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    last_authenticated_at_ms: optional(timestamp()),
    upload_token_version: doc(positive(), 'Raised with each new token.'),
    last_token_rotated_at_ms: optional(timestamp()),
    upload_token_revoked_at_ms: optional(timestamp()),
    last_observed_at_ms: optional(doc(timestamp(), 'When the newest observation was received.')),
    active_observation_count: integer({ min: 0 }),
    active_byte_length: doc(integer({ min: 0 }), 'Bytes of the active observations.'),
  }),
)
/** The value form of `ObservationSourceView`. */
export type ObservationSourceView = Infer<typeof ObservationSourceView>

/** What a source sent, as it is shown. */
export const ObservationView = named(
  'ObservationView',
  object({
    observation_id: string(),
    source_id: string(),
    kind: enums(sourceKinds),
    sensitivity: enums(sensitivities),
    retention_state: doc(enums(retentionStates), 'A purged one can no longer be given to runs or derived from.'),
    asset_id: doc(string(), 'The file.'),
    canonical_text_asset_id: optional(doc(string(), 'The text that came with it.')),
    media_type: string(),
    sha256: doc(string(), 'Of the stored bytes, hex.'),
    byte_length: integer({ min: 0 }),
    captured_at_ms: timestamp(),
    received_at_ms: timestamp(),
    stream_id: optional(string()),
    seq_no: optional(integer({ min: 0 })),
    idempotency_key: string(),
    request_fingerprint: doc(string(), 'SHA-256 of the request.'),
    metadata: optional(jsonObject()),
  }),
)
/** The value form of `ObservationView`. */
export type ObservationView = Infer<typeof ObservationView>

/** What the audit tells of. */
export const auditEvents = [
  'source_created',
  'source_updated',
  'source_rotated',
  'source_batch_upserted',
  'source_token_rotated',
  'source_token_revoked',
  'upload_succeeded',
  'upload_replayed',
  'upload_rejected',
  'upload_rate_limited',
  'retention_purged_assets',
  'capture_agent_provisioned',
  'capture_agent_heartbeat',
  'capture_agent_heartbeat_recovered',
  'capture_agent_heartbeat_missing',
  'capture_agent_revoked',
  'capture_agent_revoke_repaired',
] as const
/** One of them. */
export type AuditEvent = (typeof auditEvents)[number]

/** Why an upload was refused. */
export const rejectionReasons = [
  'invalid_source_id',
  'missing_or_invalid_token',
  'invalid_token',
  'expired_token',
  'revoked_token',
  'source_not_active',
  'idempotency_conflict',
  'unsupported_media_type',
  'invalid_base64',
  'invalid_request',
] as const
/** One of them. */
export type RejectionReason = (typeof rejectionReasons)[number]

const auditFields = {
  event: enums(auditEvents),
  source_id: doc(string(), 'Of events of capture agents the id of the machine.'),
  observation_id: optional(string()),
  reason: optional(string()),
  upload_token_version: optional(integer({ min: 1 })),
  idempotency_key_sha256: optional(string()),
  request_fingerprint: optional(string()),
  media_type: optional(string()),
  byte_length: optional(integer({ min: 0 })),
  retry_after_ms: optional(integer({ min: 0 })),
  purged_asset_ids: optional(array(string())),
}
/** One event of the audit; it holds no token and no content. */
export const ObservationAuditRecord = named(
  'ObservationAuditRecord',
  object({ recorded_at_ms: timestamp(), ...auditFields }),
)
/** The value form of `ObservationAuditRecord`. */
export type ObservationAuditRecord = Infer<typeof ObservationAuditRecord>
/** An event before it is recorded. */
export type AuditDraft = Omit<ObservationAuditRecord, 'recorded_at_ms'>

/** Whose a source is in place of operators: a plugin, and what it calls the owner. */
export const SourceOwner = object({ plugin: string(), id: string() })
/** The value form of `SourceOwner`. */
export type SourceOwner = Infer<typeof SourceOwner>
