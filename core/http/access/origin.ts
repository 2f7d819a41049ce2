/** Which web pages may call (http-30). */
import type { IncomingMessage } from 'node:http'
import { startErrors } from '../errors.js'
import { hostName } from './admit.js'

export interface OriginPolicy {
  readonly kind: 'loopback' | 'exact'
  readonly size: number
  /** True without an Origin, unless the browser itself says that another site is behind the request. */
  admits(request: IncomingMessage): boolean
  /** Response headers for a page that may call. */
  headers(request: IncomingMessage): Readonly<Record<string, string>> | undefined
}

const isLoopbackOrigin = (origin: string): boolean => {
  const host = /^https?:\/\/([^/?#@]+)$/u.exec(origin)?.[1]
  const name = host === undefined ? undefined : hostName(host)
  return name === 'localhost' || name === '127.0.0.1' || name === '::1'
}

/** Throws `cors_origin_refused` for an origin that is not loopback. */
export const createOriginPolicy = (allowed: readonly string[] = []): OriginPolicy => {
  const exact = new Set(allowed.map((origin) => origin.trim().toLowerCase()))
  for (const origin of exact)
    if (!isLoopbackOrigin(origin)) throw startErrors.cors_origin_refused({ details: { origin } })
  const accepts = (origin: string): boolean => (exact.size === 0 ? isLoopbackOrigin(origin) : exact.has(origin))
  const crossSite = ({ headers }: IncomingMessage): boolean =>
    headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate'
  return {
    kind: exact.size === 0 ? 'loopback' : 'exact',
    size: exact.size,
    admits: (request) => (request.headers.origin === undefined ? !crossSite(request) : accepts(request.headers.origin)),
    headers: ({ headers: { origin } }) =>
      origin === undefined || !accepts(origin)
        ? undefined
        : {
            'access-control-allow-origin': origin,
            'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS',
            'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
            'access-control-max-age': '600',
            vary: 'origin, access-control-request-method, access-control-request-headers',
          },
  }
}
