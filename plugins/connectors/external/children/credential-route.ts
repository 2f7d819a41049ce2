/** Where a child gets its secrets, one at a time (external-39 to external-42). */
import {
  defineRoute,
  integer,
  jsonReply,
  named,
  object,
  Problem,
  string,
  type Admitted,
  type Infer,
  type IngressHead,
  type Route,
} from '../../../../core/plugin.js'
import type { Lease } from '../../../operator/leases/contract.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import { ingressDomain, ingressErrors } from '../../ingress/contract.js'
import { bearerOf, connectorOf, credentialScheme, unopened, type AccessParts } from '../setup/access.js'
import type { ChildCredentials } from './credentials.js'

const Credential = named(
  'ExternalCredential',
  object({ value: string(), lease_id: string(), grant_id: string(), expires_at_ms: integer() }),
)

export interface CredentialRouteParts extends AccessParts {
  readonly credentials: Pick<ChildCredentials, 'check'>
  readonly slots: Pick<SecretSlots, 'find' | 'value'>
}

const params = object({ name: string({ min: 1, max: 200 }), env_key: string({ min: 1, max: 400 }) })
type Asked = Infer<typeof params>

/** The secret that a lease is for, under the name that the child knows. */
const leased = ({ audience }: Lease, env_key: string): string | undefined =>
  audience.type === 'connector' ? audience.secret_refs[audience.env_keys.indexOf(env_key)] : undefined

interface Admission {
  readonly lease: Lease
  readonly secret_ref: string
}

/** Throws `not_found` and `unauthorized` in the order of what is looked at (external-40). */
const admit = (parts: CredentialRouteParts, head: IngressHead<Asked>): Admitted<Admission> => {
  const { name, env_key } = head.params
  const { child_process: child } = connectorOf(parts, name).settings
  if (child === undefined) throw ingressErrors.not_found({ members: { reason: 'no_child_process' } })
  const lease = parts.credentials.check(name, bearerOf(head))
  if (lease === undefined) throw unopened()
  const slots = child.credential_slots ?? {}
  const secret_ref = Object.hasOwn(slots, env_key) ? slots[env_key] : undefined
  if (secret_ref === undefined) throw ingressErrors.not_found({ members: { reason: 'no_such_credential' } })
  // The connector was changed meanwhile: what was lent is not what is asked for.
  if (leased(lease, env_key) !== secret_ref) throw unopened()
  return { subject: { lease, secret_ref } }
}

/** Throws `not_found` where there is none. */
const valueOf = ({ slots }: CredentialRouteParts, secret_ref: string): string => {
  const slot = slots.find(secret_ref)
  if (slot?.details.readable === true && slot.provider === 'generic')
    try {
      const value = slots.value(secret_ref)
      if (value !== '') return value
    } catch (error) {
      if (!(error instanceof Problem)) throw error
    }
  throw ingressErrors.not_found({ members: { reason: 'credential_without_value' } })
}

export const credentialRoute = (parts: CredentialRouteParts): Route =>
  defineRoute({
    id: 'external.credential',
    method: 'GET',
    path: '/v1/connectors/external/:name/credentials/:env_key',
    summary: 'Gives the child process of a connector one of its secrets.',
    access: 'ingress',
    ingress: (head: IngressHead<Asked>) => admit(parts, head),
    scheme: credentialScheme,
    params,
    problemDomain: ingressDomain,
    reply: jsonReply(Credential),
    problems: [ingressErrors.unauthorized, ingressErrors.not_found],
    handler({ caller: { subject } }) {
      const { lease, secret_ref } = subject
      const value = valueOf(parts, secret_ref)
      return { value, lease_id: lease.id, grant_id: lease.grant_id, expires_at_ms: lease.expires_at_ms }
    },
  })
