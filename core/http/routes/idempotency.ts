/** The idempotency key of a request: header and body may both carry it if they agree (http-16). */
import { doc, optional, string } from '../../base/schema.js'
import { idempotencyErrors } from '../errors.js'

/** The body field. */
export const IdempotencyKey = optional(doc(string({ max: 255 }), 'May be sent in the Idempotency-Key header instead.'))

/** The key of a request, from header or body. */
export const idempotencyKey = (header: string | undefined, body: string | undefined): string | undefined => {
  const invalid = (path: string): Error =>
    idempotencyErrors.invalid_idempotency_key({ errors: [{ path, rule: 'must be one key that is not empty' }] })
  if (body !== undefined && body.trim() === '') throw invalid('body.idempotency_key')
  if (header !== undefined && body !== undefined && header !== body) throw invalid('header.idempotency-key')
  return body ?? header
}
