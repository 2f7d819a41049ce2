/** The idempotency key of a request: header and body may both carry it if they agree (http-16). */
import { doc, optional, string } from '../../base/schema.js'
import { idempotencyErrors } from '../errors.js'
import type { Route } from './route.js'

/** The body field; its form is checked where the key is taken. */
export const IdempotencyKey = optional(
  doc(string(), '1 to 255 visible ASCII characters. May be sent in the Idempotency-Key header instead.'),
)
/** What a key must be, wherever it stands. */
export const isIdempotencyKey = (key: string): boolean => /^[\x21-\x7e]{1,255}$/u.test(key)
export const idempotencyKeyRule = 'must be 1 to 255 visible ASCII characters'

/**
 * True where a key would be believed to be taken and is not: a repeated POST has its effect again. What platforms send
 * is theirs.
 */
export const refusesKeys = ({ method, access, idempotent }: Pick<Route, 'method' | 'access' | 'idempotent'>): boolean =>
  method === 'POST' && access !== 'ingress' && idempotent !== true

/** The key of a request, from header or body. */
export const idempotencyKey = (header: string | undefined, body: string | undefined): string | undefined => {
  const invalid = (path: string, rule: string): Error =>
    idempotencyErrors.invalid_idempotency_key({ details: { rule }, errors: [{ path, rule }] })
  if (body !== undefined && !isIdempotencyKey(body)) throw invalid('body.idempotency_key', idempotencyKeyRule)
  if (header !== undefined && body !== undefined && header !== body)
    throw invalid('header.idempotency-key', 'must be the key of the body')
  return body ?? header
}
