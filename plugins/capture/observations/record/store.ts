/** Where sources, observations and the audit are kept. */
import {
  array,
  boolean,
  collectionSource,
  integer,
  object,
  optional,
  ringIndex,
  string,
  timeKey,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type Skip,
  type State,
} from '../../../../core/plugin.js'
import { observationErrors } from './errors.js'
import { ObservationAuditRecord, ObservationSourceView, ObservationView, SourceOwner } from './structs.js'

const OlderToken = object({ sha256: string(), version: integer({ min: 1 }), expires_at_ms: timestamp() })
/** A source as it is kept. */
const SourceRecord = object({
  view: ObservationSourceView,
  upload_token_sha256: string(),
  /** Tokens that still open for a while. */
  previous_upload_tokens: array(OlderToken),
  /** The newest digests of tokens that were taken away; absent where none was. */
  revoked_upload_tokens: optional(array(string())),
  owner: optional(SourceOwner),
  /** When the first of its observations expires, or is forgotten. */
  due_at_ms: optional(timestamp()),
})
/** A source as it is kept. */
export type SourceRecord = Infer<typeof SourceRecord>

/** An observation as it is kept. */
const ObservationRecord = object({
  view: ObservationView,
  /** When it was purged; absent while it is active. */
  purged_at_ms: optional(timestamp()),
  /** Its files are still to be deleted. */
  leaving: optional(boolean()),
  group_id: optional(string()),
})
/** An observation as it is kept. */
export type ObservationRecord = Infer<typeof ObservationRecord>

export const sourceCollection: CollectionSpec<SourceRecord> = {
  name: 'observation_sources',
  version: 1,
  id: ({ view }) => view.source_id,
  indexes: {
    all: { group: () => 'all' },
    due: {
      group: ({ due_at_ms }) => (due_at_ms === undefined ? undefined : 'due'),
      sort: ({ due_at_ms, view }) => `${timeKey(due_at_ms)} ${view.source_id}`,
    },
  },
  schema: SourceRecord,
}

/** Order of lists: captured first, then made first. */
export const capturedKey = ({ captured_at_ms, observation_id }: ObservationView): string =>
  `${timeKey(captured_at_ms)} ${observation_id}`
const captured = ({ view }: ObservationRecord): string => capturedKey(view)
/** Order of their age here. */
export const receivedKey = ({ view }: ObservationRecord): string =>
  `${timeKey(view.received_at_ms)} ${view.observation_id}`
/** Observations that can be used and those that cannot are apart. */
export const groupOf = (state: ObservationView['retention_state'], ...within: readonly string[]): string =>
  [state, ...within].join(' ')
const stateOf = ({ view }: ObservationRecord): ObservationView['retention_state'] => view.retention_state
const ifActive = (record: ObservationRecord, group: string | undefined): string | undefined =>
  stateOf(record) === 'active' ? group : undefined

export const observationCollection: CollectionSpec<ObservationRecord> = {
  name: 'observations',
  version: 2,
  id: ({ view }) => view.observation_id,
  indexes: {
    all: { group: (record) => groupOf(stateOf(record)), sort: captured },
    source: { group: (record) => groupOf(stateOf(record), record.view.source_id), sort: captured },
    stream: {
      group: ({ view: { retention_state, source_id, stream_id } }) =>
        stream_id === undefined ? undefined : groupOf(retention_state, source_id, stream_id),
      sort: captured,
    },
    /** What is captured together, whatever saw it. */
    capture_group: { group: (record) => ifActive(record, record.group_id), sort: captured },
    key: { group: ({ view: { source_id, idempotency_key } }) => `${source_id} ${idempotency_key}` },
    asset: { group: (record) => groupOf(stateOf(record), record.view.asset_id) },
    text_asset: {
      group: ({ view: { retention_state, canonical_text_asset_id: id } }) =>
        id === undefined ? undefined : groupOf(retention_state, id),
    },
    received: {
      group: (record) => ifActive(record, record.view.source_id),
      sort: receivedKey,
    },
    /** Purged ones by source, those purged first before the others. */
    purged: {
      group: ({ purged_at_ms, view }) => (purged_at_ms === undefined ? undefined : view.source_id),
      sort: ({ purged_at_ms, view }) => `${timeKey(purged_at_ms)} ${view.observation_id}`,
    },
    leaving: { group: ({ leaving }) => (leaving === true ? 'leaving' : undefined) },
  },
  settled: () => true,
  removed: 'forgotten',
  bounded: { observations: 'retention_seconds, max_active_observations and max_active_bytes of each source' },
  schema: ObservationRecord,
  references: ({ view }) => [{ collection: 'observation_sources', id: view.source_id }],
}

const AuditEntry = object({ ring: string(), seq: integer({ min: 1 }), record: ObservationAuditRecord })
/** An event in its ring. */
export type AuditEntry = Infer<typeof AuditEntry>
const seqText = (seq: number): string => String(seq).padStart(16, '0')
/** Newest last; of one time the later name of an event, then the later event. */
const recordedKey = ({ ring, seq, record }: AuditEntry): string =>
  `${timeKey(record.recorded_at_ms)} ${record.event} ${seqText(seq)} ${ring}`

export const auditCollection: CollectionSpec<AuditEntry> = {
  name: 'observation_audit',
  version: 1,
  id: ({ ring, seq }) => `${ring}-${seqText(seq)}`,
  indexes: {
    all: { group: () => 'all', sort: recordedKey },
    source: { group: ({ record }) => record.source_id, sort: recordedKey },
    event: { group: ({ record }) => record.event, sort: recordedKey },
    both: { group: ({ record }) => `${record.source_id} ${record.event}`, sort: recordedKey },
    ...ringIndex,
  },
  settled: () => true,
  removed: 'forgotten',
  bounded: { observation_audit: 'its rings' },
  schema: AuditEntry,
}

export interface ObservationStore {
  readonly state: State
  readonly sources: Collection<SourceRecord>
  readonly observations: Collection<ObservationRecord>
  readonly audit: Collection<AuditEntry>
  /** Throws `observation_source_not_found`. */
  getSource(source_id: string): SourceRecord
  /** Throws `observation_not_found`. */
  getObservation(observation_id: string): ObservationRecord
  /** What a source sent under a key. */
  withKey(source_id: string, idempotency_key: string): ObservationRecord | undefined
  readonly skip: Skip
}

export const declareStore = (state: State, skip: Skip): ObservationStore => {
  const sources = state.collection(sourceCollection)
  const observations = state.collection(observationCollection)
  return {
    state,
    sources,
    observations,
    audit: state.collection(auditCollection),
    getSource(source_id) {
      const found = sources.find(source_id)
      if (found === undefined) throw observationErrors.observation_source_not_found({ details: { source_id } })
      return found
    },
    getObservation(observation_id) {
      const found = observations.find(observation_id)
      if (found === undefined) throw observationErrors.observation_not_found({ details: { observation_id } })
      return found
    },
    withKey(source_id, idempotency_key) {
      const [id] = observations.ids('key', `${source_id} ${idempotency_key}`)
      return id === undefined ? undefined : observations.find(id)
    },
    skip,
  }
}

/** Sources by id. */
export const sourceList = ({ sources }: ObservationStore) => collectionSource(sources, 'all', 'all')
