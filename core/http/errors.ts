/** Errors of the HTTP layer itself (http-6). */
import { defineErrors, type Problem } from '../base/errors.js'

export const httpErrors = defineErrors({
  bad_request: {
    status: 400,
    detail: 'The request is not valid: {path} {rule}.',
    action: 'Correct the fields named in `errors` and send the request again.',
  },
  host_not_allowed: {
    status: 403,
    domain: 'api',
    detail: 'The Host header names a host that this daemon does not answer for.',
    action: 'Call the daemon by its own address, or add the name to the allowed hosts.',
  },
  route_not_found: {
    status: 404,
    domain: 'api',
    detail: 'No route has this path.',
    action: 'See /v1/openapi.json for the routes of this daemon.',
  },
  method_not_allowed: {
    status: 405,
    detail: 'This path does not answer to {method}.',
    action: 'Use one of the methods in the Allow header.',
  },
  request_timeout: {
    status: 408,
    detail: 'The request did not arrive in time.',
    action: 'Send the whole request without pauses.',
  },
  payload_too_large: {
    status: 413,
    detail: 'The body is larger than {limit_bytes} bytes.',
    action: 'Send less than `limit_bytes`.',
  },
  unsupported_media_type: {
    status: 415,
    detail: 'The body must be plain {wanted}.',
    action: 'Send no Content-Encoding, and JSON as `Content-Type: application/json`.',
  },
  expectation_failed: {
    status: 417,
    detail: 'The Expect header asks for something other than 100-continue.',
    action: 'Leave the header out.',
  },
  headers_too_large: {
    status: 431,
    detail: 'The headers are too many or too large.',
    action: 'Send at most 100 headers and 16 KiB of them.',
  },
  ingress_not_ready: {
    status: 503,
    detail: 'Who calls here cannot be checked now.',
    action: 'Try again later; the operator finds the reason with holdfast doctor.',
  },
  internal_error: {
    status: 500,
    detail: 'The daemon failed to answer this request.',
    action: 'Look for the route in the log of the daemon.',
  },
  too_many_bodies: {
    status: 503,
    domain: 'api',
    detail: 'The bodies of other requests leave no room for this one.',
    action: 'Try again after the time in Retry-After.',
  },
  daemon_draining: {
    status: 503,
    domain: 'readiness',
    detail: 'The daemon is stopping and takes no new work.',
    action: 'Wait for the next start and try again.',
  },
  required_not_ready: {
    status: 503,
    domain: 'readiness',
    detail: '{what} is required and is not ready yet{why}.',
    action: 'See to what the sentence says, or wait a moment if it gives no reason; GET /v1/status says what to do.',
  },
  daemon_starting: {
    status: 503,
    domain: 'readiness',
    detail: 'The daemon is not ready yet.',
    action: 'Try again in a moment.',
  },
  missing_token: {
    status: 401,
    domain: 'auth',
    detail: 'The request carries no bearer token.',
    action: 'Send `Authorization: Bearer <token>`.',
  },
  malformed_token: {
    status: 401,
    domain: 'auth',
    detail: 'The Authorization header is not a bearer token.',
    action: 'Send `Authorization: Bearer <token>`.',
  },
  invalid_token: {
    status: 401,
    domain: 'auth',
    detail: 'The bearer token is not known.',
    action: 'Use the current admin or read-only token.',
  },
  insufficient_access: {
    status: 403,
    domain: 'auth',
    detail: 'The read-only token does not open this route.',
    action: 'Use the admin token.',
  },
  rate_limited: {
    status: 429,
    domain: 'auth',
    detail: 'Too many refused requests came from this address.',
    action: 'Wait for the time in Retry-After.',
  },
  origin_not_allowed: {
    status: 403,
    domain: 'cors',
    detail: 'Web pages of this origin may not call the daemon.',
    action: 'Add the origin to the allowed origins, or call from another program.',
  },
  invalid_idempotency_key: {
    status: 400,
    domain: 'idempotency',
    detail: 'The idempotency key must be 1 to 255 visible ASCII characters, given once.',
    action: 'Send one well-formed key.',
  },
  idempotency_key_not_taken: {
    status: 400,
    domain: 'idempotency',
    detail: 'This route takes no idempotency key: the same request again has its effect again.',
    action: 'Leave the header out; before a request is repeated, see what the one before it did.',
  },
  invalid_event_cursor: {
    status: 400,
    domain: 'events',
    detail: 'The event cursor must be a decimal event id.',
    action: 'Use the id of the last event you received, or leave the cursor out.',
  },
  range_not_satisfiable: {
    status: 416,
    domain: 'api',
    detail: 'The range lies behind the end: there are {length} bytes.',
    action: 'Ask for a part that begins within them, or leave the Range header out.',
  },
  invalid_limit: {
    status: 400,
    domain: 'pagination',
    detail: 'The limit must be at least 1.',
    action: 'Ask for at least one item; a limit above the most that there is means the most.',
  },
  invalid_cursor: {
    status: 400,
    domain: 'pagination',
    detail: 'The cursor was not made by this daemon.',
    action: 'Use `next_cursor` of the page before, or leave the cursor out.',
  },
})

/** Reasons not to start; the command line prints them (http-27). */
export const startErrors = defineErrors({
  admin_token_required: {
    status: 400,
    domain: 'auth',
    detail: 'Listening on {host} without an admin token would let anyone in.',
    action: 'Give one with --http-admin-token-file FILE, or bind a loopback address with --bind.',
  },
  admin_token_missing: {
    status: 400,
    domain: 'auth',
    detail: 'This authentication mode needs an admin token and none is given.',
    action: 'Give one with --http-admin-token-file FILE or --http-admin-token TOKEN.',
  },
  tokens_equal: {
    status: 400,
    domain: 'auth',
    detail: 'The admin token and the read-only token have the same value or file.',
    action: 'Give two different tokens.',
  },
  token_malformed: {
    status: 400,
    domain: 'auth',
    detail: 'The {role} token is empty or has characters other than visible ASCII.',
    action: 'Use letters, digits and punctuation without spaces.',
  },
  cors_origin_refused: {
    status: 400,
    domain: 'cors',
    detail: 'The allowed origin {origin} is not a loopback http or https origin without a path.',
    action: 'Use an origin such as --http-cors-allow-origin http://localhost:3000.',
  },
  listen_failed: {
    status: 503,
    domain: 'api',
    detail: 'The daemon cannot listen on {host}:{port}: {why}.',
    action: 'Choose another address with --bind, such as --bind 127.0.0.1:4001, or stop what uses this one.',
  },
})

export interface FieldError {
  readonly path: string
  readonly rule: string
}

/** `bad_request` that names each offending field. */
export const badRequest = (...errors: readonly FieldError[]): Problem => {
  const cut = errors.slice(0, 20).map(({ path, rule }) => ({ path: path.slice(0, 200), rule: rule.slice(0, 200) }))
  return httpErrors.bad_request({
    details: { path: cut[0]?.path ?? 'request', rule: cut[0]?.rule ?? 'is malformed' },
    errors: cut,
  })
}

/** Problems of idempotency keys, which some routes take. */
export const idempotencyErrors = defineErrors({
  idempotency_conflict: {
    status: 409,
    domain: 'idempotency',
    detail: 'This idempotency key was used with a different payload.',
    action: 'Use a new key for a new request.',
  },
  invalid_idempotency_key: {
    status: 400,
    domain: 'idempotency',
    detail: 'The idempotency key {rule}.',
    action: 'Send one key, in the header or in the body.',
  },
})
