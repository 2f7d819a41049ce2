/** The one writer of problem documents (http-6). */
import { STATUS_CODES } from 'node:http'
import type { Problem } from '../base/errors.js'

export const problemType = 'application/problem+json'

/** The phrase of a status, as HTTP has it. */
export const titleOf = (status: number): string => STATUS_CODES[status] ?? 'Daemon Error'

export const problemDocument = ({ code, spec, occurrence, message, action }: Problem): Record<string, unknown> => ({
  ...occurrence.members,
  type: `urn:service:problem:${code}`,
  title: titleOf(spec.status),
  status: spec.status,
  detail: message,
  code,
  ...(spec.domain !== undefined && { domain: spec.domain }),
  ...(action !== undefined && { action }),
  ...(occurrence.errors !== undefined && { errors: occurrence.errors }),
})

export const problemHeaders = ({ occurrence }: Problem): Record<string, string> => ({
  ...occurrence.headers,
  ...(occurrence.retryAfter !== undefined && { 'retry-after': String(Math.ceil(occurrence.retryAfter)) }),
})
