/** The one writer of problem documents (http-6). */
import type { Problem } from '../base/errors.js'

export const problemType = 'application/problem+json'

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}
export const titleOf = (status: number): string => titles[status] ?? 'Daemon Error'

export const problemDocument = ({ code, spec, occurrence, message }: Problem): Record<string, unknown> => ({
  ...occurrence.members,
  type: `urn:service:problem:${code}`,
  title: titleOf(spec.status),
  status: spec.status,
  detail: message,
  code,
  ...(spec.domain !== undefined && { domain: spec.domain }),
  ...(spec.action !== undefined && { action: spec.action }),
  ...(occurrence.errors !== undefined && { errors: occurrence.errors }),
})

export const problemHeaders = ({ occurrence }: Problem): Record<string, string> => ({
  ...occurrence.headers,
  ...(occurrence.retryAfter !== undefined && { 'retry-after': String(Math.ceil(occurrence.retryAfter)) }),
})
