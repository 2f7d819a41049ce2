import { boolean, commandLine, doc, enums, integer, object, optional, string } from '../../../core/plugin.js'
import { defineSetting, type RuntimeSection } from '../../operator/runtime/contract.js'
import type { DebugConfig } from './config.js'
import { debugLevels } from './contract.js'
import { debugErrors } from './errors.js'
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

/** How much evidence is kept (debug-7 to debug-11). */
export const debugLevelSetting = ({ debug_level }: DebugConfig, key: () => KeySetup) =>
  defineSetting({
    name: 'debug_level',
    schema: enums(debugLevels),
    initial: () => debug_level,
    setBy: (level) => commandLine('runtime set-debug-level', level),
    check(level) {
      const setup = key()
      if (level !== 'off' && setup.type === 'unusable')
        throw debugErrors.debug_capture_key_unusable({ details: { reason: setup.reason } })
    },
    change: {
      path: 'debug-level',
      summary: 'Sets how much evidence is kept of what runs ask and are answered from now on.',
      fields: { level: doc(enums(debugLevels), 'Nothing, facts, texts without secrets and personal data, or texts.') },
      value: ({ level }) => level,
      problems: [debugErrors.debug_capture_key_unusable],
      example: { level: 'redacted' },
    },
  })

/** The limits of evidence and its key (debug-7 to debug-11). */
export const captureSection = (config: DebugConfig, key: () => KeySetup): RuntimeSection => ({
  name: 'debug_capture',
  schema: Figures,
  collect: () => figuresOf(config, key()),
})
