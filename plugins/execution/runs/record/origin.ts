/** Where a run comes from, as the daemon itself knows it, and the keys of metadata that say so. */
import {
  array,
  boolean,
  definePoint,
  json,
  jsonObject,
  object,
  optional,
  string,
  type Infer,
  type JsonObject,
  type Point,
} from '../../../../core/plugin.js'
import { runErrors } from './errors.js'

/**
 * What made a run, told by the plugin that made it and by nobody else. It is a member of the record, and stands in
 * `input_metadata` when the run is read.
 */
export const RunOrigin = object({
  parent_agent_id: optional(string()),
  spawned_by_run_id: optional(string()),
  scheduled_by_run_id: optional(string()),
  mailbox_message_ids: optional(array(string())),
  requester_agent_id: optional(string()),
  requester_session_id: optional(string()),
  requester_run_id: optional(string()),
  requester_tool_call_id: optional(string()),
  channel_id: optional(string()),
  thread_root_message_id: optional(string()),
  origin_message_id: optional(string()),
  human_origin_message_id: optional(string()),
  turn_id: optional(string()),
  addressed_member_ids: optional(array(string())),
  superseded_run_id: optional(string()),
  superseded_turn_id: optional(string()),
  observation_ids: optional(array(string())),
  connector_ingress_key: optional(string()),
  materialization_run_id: optional(string()),
  project_task_id: optional(string()),
  observation_source_id: optional(string()),
  observation_source_ids: optional(array(string())),
  observation_source_sensitivity: optional(string()),
  observation_allows_output_delivery: optional(boolean()),
  observation_group_id: optional(string()),
  observation_stream_ids: optional(array(string())),
  observation_asset_ids: optional(array(string())),
  learned_context: optional(json()),
  service_flow: optional(jsonObject()),
  /** What a connector says of the event that it is: shown beside the others, not under this name. */
  ingress: optional(jsonObject()),
})
/** The value form of `RunOrigin`. */
export type RunOrigin = Infer<typeof RunOrigin>

/** True of a run that was given what must not leave the daemon: nothing that it says does (observations-19). */
export const keepsOutputs = ({ origin }: { readonly origin?: RunOrigin }): boolean =>
  origin?.observation_allows_output_delivery === false

/** A key of `metadata` that a caller must not write. */
export interface ReservedKey {
  readonly key: string
  /** True: left out of what a caller writes; without it the submission is refused. */
  readonly stripped?: boolean
}
/** Every key of `metadata` that belongs to the daemon. */
export const ReservedKeys: Point<ReservedKey> = definePoint<ReservedKey>('reserved-metadata-keys@1', ({ key }) => key)

/** Keys of this plugin: those of an origin, and the requirements that have a field of their own. */
export const ownReservedKeys: readonly ReservedKey[] = [
  ...Object.keys(RunOrigin.schema).filter((key) => key !== 'ingress'),
  'completion_requirements',
].map((key) => ({ key }))

/** Throws `reserved_metadata_key` (400) for metadata that would forge an origin. */
export const checkMetadata = (reserved: readonly ReservedKey[], metadata: JsonObject | undefined): void => {
  const forged =
    metadata === undefined
      ? undefined
      : reserved.find(({ key, stripped }) => stripped !== true && Object.hasOwn(metadata, key))?.key
  if (forged !== undefined)
    throw runErrors.reserved_metadata_key({
      details: { key: forged },
      errors: [{ path: `body.metadata.${forged}`, rule: 'belongs to the daemon' }],
    })
}

/** What is kept of a caller's metadata. */
export const keptMetadata = (
  reserved: readonly ReservedKey[],
  metadata: JsonObject | undefined,
): JsonObject | undefined => {
  if (metadata === undefined) return undefined
  const stripped = new Set(reserved.flatMap(({ key, stripped: isStripped }) => (isStripped === true ? [key] : [])))
  if (!Object.keys(metadata).some((key) => stripped.has(key))) return metadata
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !stripped.has(key)))
}

/** `input_metadata` as it is shown: what the caller wrote, and the origin that nobody can forge. */
export const shownMetadata = (
  metadata: JsonObject | undefined,
  origin: RunOrigin | undefined,
): { input_metadata?: JsonObject } => {
  if (origin === undefined) return metadata === undefined ? {} : { input_metadata: metadata }
  const { ingress, ...rest } = origin
  return { input_metadata: { ...metadata, ...ingress, ...rest } }
}
