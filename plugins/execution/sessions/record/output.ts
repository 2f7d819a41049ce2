/** Outputs of runs as sessions show them. */
import { array, doc, enums, named, nullable, object, optional, string, type Infer } from '../../../../core/plugin.js'
import { AttachmentRef, OutputPart } from '../../../media/assets/contract.js'

/** What a run said to the outside (runs-23). */
export const DaemonOutputRecord = named(
  'DaemonOutputRecord',
  object({
    session_id: doc(string(), 'Id of the session.'),
    run_id: doc(string(), 'Id of the run.'),
    content: doc(string(), 'Plain text of all parts: words, and a line for each file.'),
    parts: optional(array(OutputPart)),
    artifacts: optional(
      doc(array(AttachmentRef), 'Files that go with it, those among its parts too where both hold them.'),
    ),
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
