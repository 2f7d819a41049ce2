/** Errors in a stream: the vendor names them by words, and by the number of a status that may be missing. */
import { isLink } from '../streamed/contract.js'

const statuses = new Map<unknown, number>([
  ['INVALID_ARGUMENT', 400],
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['RESOURCE_EXHAUSTED', 429],
  ['UNKNOWN', 500],
  ['INTERNAL', 500],
  ['DATA_LOSS', 500],
  ['CANCELLED', 503],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
])

/** The error with the number of its status as its code, where either says it. */
export const withCode = (error: unknown): unknown => {
  if (!isLink(error)) return error
  const code = Number(error['code'])
  return code >= 400 && code <= 599 ? error : { ...error, code: statuses.get(error['status']) }
}
