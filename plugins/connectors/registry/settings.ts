/** What connectors of all kinds are set up with. */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  having,
  integer,
  named,
  object,
  optional,
  rule,
  string,
  type Infer,
} from '../../../core/plugin.js'
import { ReplyHandle, ReplyTargetRequest } from '../../execution/deliveries/contract.js'
import { CapabilityScope, CredentialScope, isSessionId, SessionId } from '../../execution/sessions/contract.js'

/** The kinds of connectors, in the order of the lists. */
export const connectorKinds = ['external', 'http', 'slack', 'telegram'] as const
export type ConnectorKindName = (typeof connectorKinds)[number]

/** What a session is opened with that a message asks for, and must be bound to that is there. */
export const SessionPolicy = named(
  'ConnectorSessionPolicy',
  object({
    create_if_missing: doc(defaulted(boolean(), false), 'True to open the session of a message that has none.'),
    persona_id: optional(doc(string({ min: 1, max: 200 }), 'The persona that such a session is bound to.')),
    capability_scope: optional(CapabilityScope),
    credential_scope: optional(CredentialScope),
  }),
)
/** The value form of `SessionPolicy`. */
export type SessionPolicy = Infer<typeof SessionPolicy>

/** What is asked for of a secret; `{}` clears it, null keeps it. */
export const ConnectorSecretInput = named(
  'ConnectorSecretInput',
  object({
    value: optional(doc(string({ min: 1, max: 65_536 }), 'Stored as a secret; never shown again.')),
    secret_ref: optional(doc(string({ min: 1, max: 200 }), 'The secret that holds it, or is to hold `value`.')),
    env: optional(doc(string({ min: 1, max: 200 }), 'The variable of the daemon that holds it; alone.')),
  }),
)
/** The value form of `ConnectorSecretInput`. */
export type ConnectorSecretInput = Infer<typeof ConnectorSecretInput>

/** What is shown of a secret of a connector: never its value. */
export const ConnectorSecretView = named(
  'ConnectorSecretView',
  object({
    configured: doc(boolean(), 'True if the connector has one.'),
    source: optional(
      doc(enums(['secret', 'env', 'file']), 'Where its value is: a secret, a variable, the file itself.'),
    ),
    secret_ref: optional(string()),
    env: optional(string()),
  }),
)
/** The value form of `ConnectorSecretView`. */
export type ConnectorSecretView = Infer<typeof ConnectorSecretView>

/** Targets as connectors are given them. */
export const targets = (sentence: string) =>
  doc(defaulted(array(having('type', ReplyTargetRequest, ReplyHandle), { max: 100 }), []), sentence)

const FixedSessionId = rule(
  SessionId,
  'must not be "." or "..", and must hold no slash, backslash or control character',
  isSessionId,
)

/** Members of the settings of every kind. */
export const connectorSettings = (rate: number) => ({
  fixed_session_id: optional(doc(FixedSessionId, 'The session of all its messages.')),
  session_policy: optional(SessionPolicy),
  allow_unauthenticated_ingress: doc(
    defaulted(boolean(), false),
    'True to let in messages that nothing proves to be of the platform.',
  ),
  ingress_events_per_second: doc(
    defaulted(integer({ min: 0, max: 100_000 }), rate),
    'New messages a second, and as many at once; what is known already is not counted.',
  ),
})

/** Members of the settings of the kinds whose answers go back to where a message came from. */
export const selfReplySettings = {
  include_self_output: doc(defaulted(boolean(), true), 'True to answer where the message came from.'),
  additional_reply_targets: targets('Where answers go as well, behind that.'),
  additional_binding_keys: doc(
    defaulted(array(string({ min: 1, max: 1000 }), { max: 100 }), []),
    'Keys that sessions of its messages are bound to as well.',
  ),
  stream_replies: doc(
    defaulted(boolean(), false),
    'True to show an answer in the chat while it is made; the message becomes the answer.',
  ),
  approver_ids: doc(
    defaulted(array(string({ min: 1, max: 200 }), { max: 100 }), []),
    'Who may decide on approvals and questions with the buttons of the chat: ids of actors. Nobody when empty.',
  ),
}
