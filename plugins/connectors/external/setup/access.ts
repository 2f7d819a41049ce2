/** Who may call the routes of sidecars (external-10, external-11). */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Admitted, IngressHead, IngressScheme } from '../../../../core/plugin.js'
import { ingressErrors } from '../../ingress/contract.js'
import type { Connectors } from '../../registry/contract.js'
import { sharedToken, type ExternalKind } from './kind.js'
import type { ExternalConnector } from './connector.js'

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Equal or not, in a time that tells nothing of either. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other))

const bearer = /^Bearer +(?<token>[!-~]+) *$/iu
/** The bearer token of a request; undefined if it has none, or more than one. */
export const bearerOf = ({ header }: Pick<IngressHead<unknown>, 'header'>): string | undefined => {
  const [value, second] = header('authorization')
  return second === undefined ? bearer.exec(value ?? '')?.groups?.['token'] : undefined
}

export const sharedScheme: IngressScheme = {
  id: 'external_connector',
  header: 'Authorization',
  description: 'The shared token of the external connector that the path names.',
}
export const credentialScheme: IngressScheme = {
  id: 'external_connector_credential',
  header: 'Authorization',
  description: 'The credential token that the daemon gave the child process when it started it.',
}

/** Who sends events. */
export interface Sender {
  readonly name: string
  /** It showed the shared token. */
  readonly isProven: boolean
}

export interface AccessParts {
  readonly kind: ExternalKind
  readonly connectors: Pick<Connectors, 'find' | 'has'>
}

/** The one answer to all who are not let in. */
export const unopened = () => ingressErrors.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })

/** Throws `not_found`. */
export const connectorOf = ({ kind, connectors }: AccessParts, name: string): ExternalConnector => {
  const connector = connectors.find(kind, name)
  if (connector === undefined) throw ingressErrors.not_found()
  return connector
}

type Head = IngressHead<{ readonly name: string }>

/** Lets in who shows the shared token; where there is none, whoever comes if the connector says so. */
export const admitSender = (parts: AccessParts, head: Head): Admitted<Sender> => {
  const { name } = head.params
  const connector = connectorOf(parts, name)
  const token = connector.secret(sharedToken)
  if (token === undefined) {
    if (connector.settings.allow_unauthenticated_ingress) return { subject: { name, isProven: false } }
    throw unopened()
  }
  if (!isSame(token, bearerOf(head) ?? '')) throw unopened()
  return { subject: { name, isProven: true } }
}

/** Lets in who shows the shared token, and nobody where there is none. */
export const admitSidecar = (parts: AccessParts, head: Head): Admitted<Sender> => {
  const admitted = admitSender(parts, head)
  if (!admitted.subject.isProven) throw unopened()
  return admitted
}
