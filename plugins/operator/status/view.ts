/** The shape of `/v1/status` (runtime-6). */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  lazy,
  number,
  object,
  open,
  optional,
  record,
  string,
  StateFinding,
  RetentionReport,
  StorageUsage,
  timestamp,
  json,
  type AnyStruct,
  type JsonObject,
  type StructOf,
} from '../../../core/plugin.js'
import { CapabilitiesView } from './capabilities.js'
import type { ownMembers, ownStorageMembers, StatusSection } from './contract.js'

const severity = enums(['info', 'warning', 'error'])
const WarningView = object({
  severity,
  code: doc(string(), 'A stable code.'),
  message: string(),
  related_id: optional(string()),
  action: optional(string()),
})

const Probe = object({
  name: string(),
  path: string(),
  state: enums(['ok', 'read_only', 'closed']),
  writable: boolean(),
  latency_ms: doc(number({ min: 0 }), 'How long it took until everything written before was on disk.'),
  code: doc(string(), 'A stable code.'),
  message: string(),
  action: optional(string()),
})

const storageFields: Record<(typeof ownStorageMembers)[number], AnyStruct> = {
  checked_at_ms: timestamp(),
  ok: boolean(),
  write_error_count: integer({ min: 0 }),
  sequence: integer({ min: 0 }),
  probes: array(Probe),
  usage: optional(StorageUsage),
  state_root_lock: object({ path: string(), held: boolean(), mechanism: string(), generation: integer({ min: 0 }) }),
}

const PluginView = object({
  id: string(),
  version: string(),
  summary: string(),
  from: string(),
  required: boolean(),
  state: enums(['loading', 'registered', 'ready', 'degraded', 'failed', 'skipped', 'stopped']),
  reason: optional(string()),
  fault_count: integer({ min: 0 }),
  last_fault: optional(object({ at_ms: timestamp(), where: string(), message: string() })),
  load_ms: number({ min: 0 }),
  register_ms: number({ min: 0 }),
  start_ms: number({ min: 0 }),
})

const BootView = object({
  started_at_ms: timestamp(),
  total_ms: number({ min: 0 }),
  safe: boolean(),
  steps: array(object({ step: string(), ms: number({ min: 0 }), details: optional(record(json())) })),
})

const ControlPlaneView = object({
  base_url: string(),
  bind_addr: optional(string()),
  bind_is_loopback: boolean(),
  bind_is_unspecified: boolean(),
  auth_enabled: boolean(),
  read_only_token_enabled: boolean(),
  auth_effective_admin_token_available: boolean(),
  auth_effective_read_only_token_available: boolean(),
  auth_token_file_count: integer(),
  auth_token_file_error_count: integer(),
  auth_duplicate_token: boolean(),
  auth_token_files: optional(
    array(
      object({
        role: enums(['admin', 'read_only']),
        path: string(),
        readable: boolean(),
        token_loaded: boolean(),
        error: optional(string()),
      }),
    ),
  ),
  cors_policy: enums(['loopback', 'exact']),
  cors_allowed_origin_count: integer(),
  externally_exposed_without_auth: boolean(),
})

const EventsView = object({
  history_capacity: integer(),
  retained_event_count: integer(),
  subscriber_count: integer(),
  oldest_event_id: optional(string()),
  newest_event_id: optional(string()),
  next_event_id: string(),
  tail_event_id_cursor: optional(string()),
  replay_buffer_utilization_percent: number(),
  evicted_event_count: integer(),
  replay_gap_count: integer(),
  stream_lagged_event_count: integer(),
  scope_eviction_floor_id: string(),
  evicted_session_scope_count: integer(),
  evicted_run_scope_count: integer(),
})

const HealthView = object({
  generated_at_ms: timestamp(),
  snapshot_duration_ms: number({ min: 0 }),
  ok: boolean(),
  route_error_count: integer({ min: 0 }),
  route_warning_count: integer({ min: 0 }),
  scheduler_lag_ms: optional(
    doc(integer({ min: 0 }), 'How long the schedule that has been due for longest has been; absent where none is due.'),
  ),
  warnings: array(WarningView),
})

const ownFields: Record<(typeof ownMembers)[number], AnyStruct> = {
  status: enums(['ready', 'draining']),
  ready: boolean(),
  version: string(),
  snapshot_at_ms: timestamp(),
  process_id: integer(),
  started_at_ms: timestamp(),
  capabilities: CapabilitiesView,
  plugins: array(PluginView),
  boot: BootView,
  storage: object(storageFields),
  control_plane: ControlPlaneView,
  events: EventsView,
  findings: array(StateFinding),
  retention: optional(RetentionReport),
  health: HealthView,
}

/** Our own members and those of the sections, which are known only when every plugin has registered. */
export const statusView = (sections: () => readonly StatusSection[]): StructOf<JsonObject> =>
  lazy('StatusView', () => {
    const fieldsOf = (place: StatusSection['within']): Record<string, AnyStruct> =>
      Object.fromEntries(
        sections().flatMap(({ name, schema, within }) => (within === place ? [[name, optional(schema)]] : [])),
      )
    const storage: AnyStruct = object<Record<string, AnyStruct>>({ ...fieldsOf('storage'), ...storageFields })
    return open<Record<string, AnyStruct>>({ ...fieldsOf(undefined), ...ownFields, storage })
  })
