/** Connectors of the kind `http`: programs that post what is to become a run (webhooks-1). */
import {
  array,
  boolean,
  defaulted,
  doc,
  integer,
  object,
  optional,
  string,
  type Infer,
  type Issue,
} from '../../../core/plugin.js'
import {
  connectorSettings,
  targets,
  type ConnectorDraft,
  type ConnectorKind,
  unauthenticated,
} from '../registry/contract.js'
import { inOrder } from './order.js'

const HttpSettings = object({
  ...connectorSettings(60),
  ingress_events_per_second: doc(
    defaulted(integer({ min: 1, max: 100_000 }), 60),
    'New messages a second, and as many at once; what is known already is not counted.',
  ),
  actor_id: optional(doc(string({ min: 1, max: 200 }), 'Who sent it, where a message does not say.')),
  require_hmac_signature: doc(defaulted(boolean(), false), 'True to let in signed requests alone.'),
  signature_max_age_secs: doc(
    defaulted(integer({ min: 1, max: 3600 }), 300),
    'Seconds that the time of a signature may be off, before and behind.',
  ),
  require_idempotency_key: doc(defaulted(boolean(), true), 'False to take messages without a key of their own.'),
  allow_payload_reply_targets: doc(
    defaulted(boolean(), false),
    'True to let messages say where answers go, in place of `default_reply_targets`.',
  ),
  default_reply_targets: targets('Where answers go.'),
  default_binding_keys: doc(
    defaulted(array(string({ min: 1, max: 1000 }), { max: 100 }), []),
    'Keys of the session, of messages that have none.',
  ),
})
export type HttpSettings = Infer<typeof HttpSettings>

type Draft = ConnectorDraft<HttpSettings>

/** What nobody could be let in by, or too many could. */
const fault = ({ settings, has }: Draft): Issue | undefined => {
  const { require_hmac_signature: signed, require_idempotency_key: keyed, allow_unauthenticated_ingress } = settings
  if (signed && !has('hmac_secret')) return { path: 'hmac_secret', rule: 'must be given with require_hmac_signature' }
  if (signed && !keyed)
    return {
      path: 'require_idempotency_key',
      rule: 'must stay true with require_hmac_signature: a signature can be sent again',
    }
  if (settings.default_binding_keys.some((key) => key.trim() === ''))
    return { path: 'default_binding_keys', rule: 'must hold no blank key' }
  if (has('bearer_token') || signed || allow_unauthenticated_ingress) return undefined
  return {
    path: 'bearer_token',
    rule: 'must be given, or require_hmac_signature with hmac_secret, or allow_unauthenticated_ingress',
  }
}

export const httpKind: ConnectorKind<HttpSettings> = {
  kind: 'http',
  settings: HttpSettings,
  secrets: ['bearer_token', 'hmac_secret'],
  targets: 'default_reply_targets',
  normal: (settings) => ({ ...settings, default_binding_keys: inOrder(settings.default_binding_keys) }),
  fault,
  exposure: ({ settings: { require_hmac_signature: signed }, has }) =>
    has('bearer_token') || signed ? undefined : unauthenticated('bearer_token'),
}
