import { boolean, enums, integer, object, optional, string } from '../../../core/plugin.js'
import type { RuntimeSection } from '../../operator/runtime/contract.js'
import type { DebugConfig } from './config.js'
import { debugLevels, type DebugLevel } from './contract.js'
import type { KeySetup } from './key.js'

const Figures = object({
  ttl_ms: integer(),
  gc_interval_ms: integer(),
  max_artifact_bytes: integer(),
  max_run_bytes: integer(),
  max_artifacts_per_run: integer(),
  max_store_bytes: optional(integer()),
  encryption_enabled: boolean(),
  encryption_key_id: optional(string()),
  encryption_key_error: optional(string()),
})

const figuresOf = (
  { ttl_ms, gc_interval_ms, max_artifact_bytes, max_run_bytes, max_artifacts_per_run, max_store_bytes }: DebugConfig,
  key: KeySetup,
) => ({
  ttl_ms,
  gc_interval_ms,
  max_artifact_bytes,
  max_run_bytes,
  max_artifacts_per_run,
  ...(max_store_bytes !== undefined && { max_store_bytes }),
  encryption_enabled: key.type === 'key',
  ...(key.type === 'key' && { encryption_key_id: key.id }),
  ...(key.type === 'unusable' && { encryption_key_error: key.reason }),
})

/** The members `debug_level` and `debug_capture` of `/v1/runtime` (debug-7 to debug-11). */
export const debugSections = ({
  config,
  level,
  key,
}: {
  config: DebugConfig
  level: () => DebugLevel
  key: () => KeySetup
}): readonly RuntimeSection[] => [
  { name: 'debug_level', schema: enums(debugLevels), collect: level },
  { name: 'debug_capture', schema: Figures, collect: () => figuresOf(config, key()) },
]
