/** The file that an agent runs with: rendered when it is provisioned, and read by `holdfast capture`. */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  integer,
  literal,
  object,
  optional,
  rule,
  string,
  tagged,
  type Infer,
} from '../../../../core/plugin.js'
import { sourceIdPattern, sourceIdRule, sourceKinds } from '../../observations/contract.js'

/** The systems that agents run on. */
export const osProfiles = ['macos', 'linux', 'windows'] as const

const text = (max = 500) => string({ min: 1, max })
const ms = () => integer({ min: 1 })

/** An address without a password in it, to which paths can be added. */
export const isBaseUrl = (value: string): boolean => {
  const url = /^https?:\/\//iu.test(value) && URL.canParse(value) ? new URL(value) : undefined
  return url !== undefined && url.username + url.password + url.search + url.hash === '' && !/[\s\\]/u.test(value)
}
/** Where a daemon is reached: http or https, without user, query and fragment. */
export const BaseUrl = rule(text(2000), 'must be an http or https URL without user, query and fragment', isBaseUrl)

const metadata = object({
  schema: text(),
  machine_id: text(),
  os_profile: enums(osProfiles),
  capture_group_id: text(),
  capture_group_kind: text(),
  role: string({ pattern: '^[a-z_]{1,40}$', told: 'must be of 1 to 40 small letters and underscores' }),
})
const own = {
  file_name_prefix: rule(text(120), 'must have no slashes and no control characters', (name) =>
    /^[^/\\\p{Cc}]+$/u.test(name),
  ),
  metadata,
  command: optional(doc(text(10_000), 'A command for the shell whose output is what is taken; people add it.')),
  folder: optional(doc(text(4000), 'The folder whose files are taken; people add it.')),
}
const sound = {
  segment_duration_ms: ms(),
  sample_rate_hz: integer({ min: 1 }),
  channel_count: integer({ min: 1, max: 8 }),
}

/** How a source takes what it takes. */
export const Driver = tagged('kind', {
  macos_screen_snapshot: object({
    kind: literal('macos_screen_snapshot'),
    target: object({ target: literal('main_display') }),
    output_format: literal('png'),
    ...own,
  }),
  macos_camera_snapshot: object({
    kind: literal('macos_camera_snapshot'),
    target: tagged('target', {
      unique_id: object({ target: literal('unique_id'), unique_id: text() }),
      name: object({ target: literal('name'), name: text() }),
    }),
    output_format: literal('jpeg'),
    jpeg_quality: integer({ min: 1, max: 100 }),
    external_only: boolean(),
    reject_virtual: boolean(),
    ...own,
  }),
  macos_system_audio: object({
    kind: literal('macos_system_audio'),
    ...sound,
    buffer_capacity_ms: ms(),
    exclude_current_process: boolean(),
    ...own,
  }),
  microphone: object({ kind: literal('microphone'), ...sound, device_name: optional(text()), ...own }),
})
/** The value form of `Driver`. */
export type Driver = Infer<typeof Driver>

const FileSource = object({
  source_id: string({ max: 128, pattern: sourceIdPattern, told: sourceIdRule }),
  display_name: text(),
  kind: enums(sourceKinds),
  enabled: boolean(),
  stream_id: string({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$',
    told: 'must be of letters, digits and . _ : - alone, 128 at most, and begin with a letter or a digit',
  }),
  sensitivity: enums(['standard', 'sensitive']),
  trigger: object({
    mode: literal('interval'),
    every_ms: ms(),
    max_runs: optional(integer({ min: 1 })),
    duration_ms: optional(ms()),
  }),
  remote: object({
    ensure_exists: literal(false),
    upload_token: text(),
    retention_seconds: integer({ min: 1 }),
    max_active_observations: integer({ min: 1 }),
    max_active_bytes: integer({ min: 1 }),
    allow_materialization: boolean(),
    allow_output_delivery: boolean(),
  }),
  driver: Driver,
})
/** A source as the file of its agent describes it. */
export type FileSource = Infer<typeof FileSource>

/** As the daemon keeps ids of machines. */
const MachineId = string({
  max: 100,
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  told: 'must be words of small letters and digits, joined by hyphens',
})

/** The whole file. */
export const AgentFile = object({
  capture_agent: object({
    machine_id: MachineId,
    batch_id: text(),
    os_profile: enums(osProfiles),
    heartbeat_url: BaseUrl,
    heartbeat_token: text(),
    heartbeat_interval_ms: ms(),
    heartbeat_grace_ms: ms(),
    heartbeat_deadline_ms: integer({ min: 0 }),
    token_expires_at_ms: integer({ min: 0 }),
  }),
  daemon: object({
    base_url: BaseUrl,
    request_timeout_ms: defaulted(integer({ min: 1000, max: 600_000 }), 30_000),
    user_agent: rule(text(200), 'must be printable ASCII', (name) => /^[\x20-\x7e]+$/u.test(name)),
  }),
  spool: object({
    root_dir: text(4000),
    max_pending_items: defaulted(integer({ min: 1, max: 100_000 }), 2048),
    max_pending_bytes: defaulted(integer({ min: 1 }), 536_870_912),
    upload_batch_size: defaulted(integer({ min: 1, max: 64 }), 8),
    retry_initial_delay_ms: defaulted(integer({ min: 10, max: 3_600_000 }), 500),
    retry_max_delay_ms: defaulted(integer({ min: 10, max: 3_600_000 }), 30_000),
  }),
  sources: array(FileSource, { min: 1, max: 16 }),
})
/** The value form of `AgentFile`. */
export type AgentFile = Infer<typeof AgentFile>
