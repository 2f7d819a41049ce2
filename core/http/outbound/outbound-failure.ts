/** Why a request to the outside failed: a closed set of codes that may be shown to anybody. */

import { assertNever } from '../../base/assert.js'

/** Codes of failed requests. */
export const outboundCodes = [
  'outbound_url_invalid',
  'outbound_request_invalid',
  'outbound_address_refused',
  'outbound_name_not_found',
  'outbound_connection_failed',
  'outbound_certificate_refused',
  'outbound_connection_broken',
  'outbound_answer_too_large',
  'outbound_timed_out',
  'outbound_aborted',
] as const
/** One of `outboundCodes`. */
export type OutboundCode = (typeof outboundCodes)[number]

/** What a failure says of its request: not allowed here, never sent, or perhaps received. */
export type OutboundFate = 'refused' | 'unsent' | 'uncertain'

export const outboundFate = (code: OutboundCode): OutboundFate => {
  switch (code) {
    case 'outbound_url_invalid':
    case 'outbound_request_invalid':
    case 'outbound_address_refused':
      return 'refused'
    case 'outbound_name_not_found':
    case 'outbound_connection_failed':
    case 'outbound_certificate_refused':
      return 'unsent'
    case 'outbound_connection_broken':
    case 'outbound_answer_too_large':
    case 'outbound_timed_out':
    case 'outbound_aborted':
      return 'uncertain'
    default:
      return assertNever(code)
  }
}

const codeIn = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return codeIn(error.errors.at(-1))
  if (!(error instanceof Error)) return ''
  return 'code' in error && typeof error.code === 'string' ? error.code : codeIn(error.cause)
}

const unreachable = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
  'ETIMEDOUT',
  'EINVAL',
  'UND_ERR_CONNECT_TIMEOUT',
]
const kinds: readonly (readonly [RegExp, OutboundCode])[] = [
  [new RegExp(`^(${unreachable.join('|')})$`, 'u'), 'outbound_connection_failed'],
  [/^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|EPROTO)/u, 'outbound_certificate_refused'],
  [/^UND_ERR_(HEADERS_OVERFLOW|RES_EXCEEDED_MAX_SIZE)$/u, 'outbound_answer_too_large'],
  [/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/u, 'outbound_request_invalid'],
  [/^UND_ERR_(HEADERS_TIMEOUT|BODY_TIMEOUT)$/u, 'outbound_timed_out'],
  [/^UND_ERR_(DESTROYED|CLOSED|ABORTED)$/u, 'outbound_aborted'],
]

/** The code for whatever the network layer threw; its message never leaves. */
export const outboundFailure = (error: unknown): OutboundCode => {
  const code = codeIn(error)
  return kinds.find(([pattern]) => pattern.test(code))?.[1] ?? 'outbound_connection_broken'
}
