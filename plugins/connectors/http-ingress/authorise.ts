/**
 * Who may post: whoever has the bearer token, and signs where that is asked for. Whatever is wrong, the answer is the
 * same, and comparing takes the same time (webhooks-1 to webhooks-4).
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Admitted, Clock, IngressHead } from '../../../core/plugin.js'
import { ingressErrors } from '../ingress/contract.js'
import type { Connector } from '../registry/contract.js'
import type { HttpSettings } from './kind.js'

export type HttpConnector = Connector<HttpSettings>

const unauthorized = () => ingressErrors.unauthorized()

/** A secret that is set up must be there, and be something. */
const secretOf = (connector: HttpConnector, name: string): string => {
  const value = connector.secret(name)
  if (value === undefined || value.trim() === '') throw unauthorized()
  return value
}

const isSame = (given: string, wanted: string): boolean =>
  timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'))

/** The one value of a header; undefined where it came twice or not at all. */
const only = ({ header }: Pick<IngressHead<unknown>, 'header'>, name: string): string | undefined => {
  const [value, ...more] = header(name)
  return more.length === 0 ? value : undefined
}

const checkBearer = (connector: HttpConnector, head: IngressHead<unknown>): void => {
  const [, token] = /^bearer +(\S.*)$/iu.exec(only(head, 'authorization') ?? '') ?? []
  if (!isSame(token ?? '', secretOf(connector, 'bearer_token')) || token === undefined) throw unauthorized()
}

/** What is signed: method, path and query as they came, time and bytes. */
export const signatureOf = (
  secret: string,
  { target, timestamp, body }: { readonly target: string; readonly timestamp: string; readonly body: Uint8Array },
): Buffer => createHmac('sha256', secret).update(`v1:POST:${target}:${timestamp}:`).update(body).digest()

/** Seconds since 1970, of as many digits as 64 bits have. */
const timeForm = /^\d{1,20}$/u
const signatureForm = /^v1=([0-9a-fA-F]{64})$/u

/** Looks at the headers, and gives what looks at the body. */
const signatureCheck = (
  connector: HttpConnector,
  head: IngressHead<unknown>,
  now: number,
): ((body: Uint8Array) => void) => {
  const timestamp = only(head, 'x-service-timestamp') ?? ''
  const [, hex] = signatureForm.exec(only(head, 'x-service-signature') ?? '') ?? []
  const age = Math.abs(Math.floor(now / 1000) - Number(timestamp))
  if (!timeForm.test(timestamp) || hex === undefined || !(age <= connector.settings.signature_max_age_secs))
    throw unauthorized()
  const secret = secretOf(connector, 'hmac_secret')
  return (body) => {
    const wanted = signatureOf(secret, { target: head.target, timestamp, body })
    if (!timingSafeEqual(wanted, Buffer.from(hex, 'hex'))) throw unauthorized()
  }
}

/** Lets a request in to a connector, before anything of its body is read. Throws `unauthorized`. */
export const authorise = (
  connector: HttpConnector,
  head: IngressHead<unknown>,
  clock: Pick<Clock, 'now'>,
): Admitted<HttpConnector> => {
  const { require_hmac_signature: signed, allow_unauthenticated_ingress } = connector.settings
  const hasToken = connector.has('bearer_token')
  if (hasToken) checkBearer(connector, head)
  else if (!signed && !allow_unauthenticated_ingress) throw unauthorized()
  return signed ? { subject: connector, verify: signatureCheck(connector, head, clock.now()) } : { subject: connector }
}

/** Whether its messages are from somebody who was proven to be one who may send them: of the settings, not of one. */
export const isAuthenticated = (connector: HttpConnector): boolean =>
  connector.has('bearer_token') || connector.settings.require_hmac_signature
