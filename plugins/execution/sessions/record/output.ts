/** Outputs of runs as sessions show them. */
import {
  array,
  doc,
  enums,
  literal,
  named,
  nullable,
  object,
  optional,
  string,
  type Infer,
} from '../../../../core/plugin.js'

/** One part of an output (runs-23). */
export const OutputPart = object({ type: literal('text'), text: string() })
/** What a run said to the outside (runs-23). */
export const DaemonOutputRecord = named(
  'DaemonOutputRecord',
  object({
    session_id: doc(string(), 'Id of the session.'),
    run_id: doc(string(), 'Id of the run.'),
    content: doc(string(), 'Plain text of all parts.'),
    parts: optional(array(OutputPart)),
    source_kind: enums(['assistant_text', 'emit_output', 'daemon_emit_output', 'operator_notification']),
    plugin: optional(doc(string(), 'The reply plugin of its first target.')),
    address: doc(
      nullable(string()),
      'The address of its first target: `hidden` on event streams and for a read-only token, null if only readers of ' +
        'the session see it.',
    ),
  }),
)
/** The value form of `DaemonOutputRecord`. */
export type DaemonOutputRecord = Infer<typeof DaemonOutputRecord>
