import { defaulted, doc, enums, integer, object, optional, string, type Infer } from '../../../core/plugin.js'
import { debugLevels } from './contract.js'

const [KiB, MiB, minute] = [1024, 1024 * 1024, 60_000]
const bytes = (at: number, min: number) => defaulted(integer({ min, max: 1024 * 1024 * MiB }), at)

export const debugConfig = object({
  debug_level: doc(
    defaulted(enums(debugLevels), 'off'),
    'How much is kept of what runs ask and are answered: `off`; `on`, sizes and times; `redacted`, texts ' +
      'without secrets and personal data; `full`, texts without known secrets.',
  ),
  max_artifact_bytes: doc(bytes(4 * MiB, KiB), 'Most bytes of one model attempt or tool call; the rest is cut.'),
  max_run_bytes: doc(bytes(32 * MiB, KiB), 'Most bytes of one run on disk.'),
  max_artifacts_per_run: doc(
    defaulted(integer({ min: 1, max: 10_000 }), 64),
    'Most model attempts and tool calls that are kept of one run.',
  ),
  max_store_bytes: doc(
    optional(integer({ min: MiB, max: 1024 * 1024 * MiB })),
    'Most bytes of all runs; the oldest ended runs make room. No limit when absent.',
  ),
  ttl_ms: doc(
    defaulted(integer({ min: minute, max: 3650 * 86_400_000 }), 7 * 86_400_000),
    'How long evidence is kept. Milliseconds.',
  ),
  gc_interval_ms: doc(
    defaulted(integer({ min: 1000, max: 30 * 86_400_000 }), 60 * minute),
    'How often evidence that is too old is looked for. Milliseconds.',
  ),
  debug_capture_key: doc(
    optional(string()),
    'Key that evidence is encrypted with: 32 bytes in hex or base64. It beats debug_capture_key_file.',
  ),
  debug_capture_key_file: doc(optional(string()), 'File that holds the key.'),
})
export type DebugConfig = Infer<typeof debugConfig>

export const debugFlags = {
  debug_level: 'debug-level',
  max_artifact_bytes: 'debug-max-artifact-bytes',
  max_run_bytes: 'debug-max-run-bytes',
  max_artifacts_per_run: 'debug-max-artifacts-per-run',
  max_store_bytes: 'debug-max-store-bytes',
  ttl_ms: 'debug-ttl-ms',
  gc_interval_ms: 'debug-gc-interval-ms',
  debug_capture_key: 'debug-capture-key',
  debug_capture_key_file: 'debug-capture-key-file',
}
