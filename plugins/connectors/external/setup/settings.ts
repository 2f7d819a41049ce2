/** What a connector of the kind `external` is set up with (external-1). */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  named,
  object,
  optional,
  record,
  string,
  type Infer,
} from '../../../../core/plugin.js'
import { connectorSettings, selfReplySettings } from '../../registry/contract.js'

const word = (max: number) => string({ min: 1, max })

/** The program that a sidecar is, where the daemon starts it. */
export const ChildProcess = named(
  'ExternalChildProcess',
  object({
    command: doc(string({ max: 4000 }), 'The program.'),
    args: optional(doc(array(string({ max: 8000 }), { max: 100 }), 'What it is called with.')),
    env: optional(doc(record(string({ max: 32_768 })), 'Variables that it is given. They are never read back.')),
    credential_slots: optional(
      doc(record(string({ max: 200 })), 'Secrets that it may ask for one at a time: a name, and the secret behind it.'),
    ),
    working_dir: optional(doc(word(4000), 'The folder that it works in.')),
  }),
)
/** The value form of `ChildProcess`. */
export type ChildProcess = Infer<typeof ChildProcess>

/** Who runs the sidecar: somebody else, or the daemon. */
export const externalModes = ['remote_http', 'child_process'] as const

/** The settings of an external connector, but for its shared token. */
export const ExternalSettings = object({
  ...connectorSettings(100),
  ...selfReplySettings,
  platform: doc(defaulted(string({ max: 200 }), ''), 'What the sidecar speaks for. It never changes.'),
  mode: doc(defaulted(enums(externalModes), 'remote_http'), 'Whether the daemon starts the sidecar.'),
  base_url: doc(defaulted(string({ max: 2000 }), ''), 'Where the sidecar listens.'),
  allow_private_network: doc(
    defaulted(boolean(), false),
    'True if a sidecar that others run may have a private, local or special address.',
  ),
  child_process: optional(ChildProcess),
})
/** The value form of `ExternalSettings`. */
export type ExternalSettings = Infer<typeof ExternalSettings>
