/**
 * Evidence of what runs asked and were answered, for operators who look for a fault. Rules: docs/rules/debug.md.
 */
import {
  array,
  boolean,
  defineToken,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Token,
} from '../../../core/plugin.js'

/**
 * How much is kept: nothing; what was called, when and how large; also what was said, without secrets and personal
 * data; all but known secrets.
 */
export const debugLevels = ['off', 'on', 'redacted', 'full'] as const
/** One of `debugLevels`. */
export type DebugLevel = (typeof debugLevels)[number]

/** One model attempt or tool call, as it is kept (debug-4). */
export const DebugArtifactView = named(
  'DebugArtifactView',
  object({
    artifact_id: doc(string(), 'A number in order of capture, and `model` or `tool`.'),
    format: enums(['json']),
    updated_at_ms: timestamp(),
    bytes: doc(integer({ min: 0 }), 'Bytes on disk.'),
    plaintext_bytes: doc(integer({ min: 0 }), 'Bytes of its text.'),
    sha256: doc(string(), 'Of the bytes on disk.'),
    truncated: doc(boolean(), 'Its text was cut at the limit for one artifact.'),
    original_bytes: doc(optional(integer({ min: 0 })), 'Bytes of the text before it was cut.'),
    encrypted: boolean(),
    encryption_key_id: optional(string()),
  }),
)
/** The value form of `DebugArtifactView`. */
export type DebugArtifactView = Infer<typeof DebugArtifactView>
/** What is kept of a run (debug-4). */
export const RunDebugView = named(
  'RunDebugView',
  object({
    run_id: doc(string(), 'Id of the run.'),
    level: doc(enums(debugLevels), 'The level of the latest artifact.'),
    artifacts: doc(array(DebugArtifactView), 'Oldest first.'),
    dropped_artifact_count: doc(integer({ min: 0 }), 'Attempts and calls that a limit kept out.'),
  }),
)
/** The value form of `RunDebugView`. */
export type RunDebugView = Infer<typeof RunDebugView>

/** Evidence of runs, for other plugins. */
export interface DebugEvidence {
  /** The text of an artifact; undefined if there is none that can be read. */
  text(run_id: string, artifact_id: string): Promise<string | undefined>
}
/** What this daemon keeps of what runs asked and were answered. */
export const DebugEvidence: Token<DebugEvidence> = defineToken<DebugEvidence>('debug-evidence@1')
