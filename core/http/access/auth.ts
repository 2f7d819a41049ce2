/** Decides who calls, and keeps count of refusals (http-23 to http-29). */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.js'
import type { Problem, ProblemFactory } from '../../base/errors.js'
import { httpErrors } from '../errors.js'
import type { Access, Caller } from '../routes/route.js'
import { createThrottle } from './throttle.js'
import { createTokens, given, type AuthMode, type Tokens, type TokenSources } from './tokens.js'

/** One refusal. Never holds a token or a query. */
export interface AuthRecord {
  readonly timestamp_ms: number
  readonly event: 'auth_failure' | 'auth_rate_limited' | 'cors_origin_rejected' | 'cors_origin_rate_limited'
  readonly method: string
  readonly path: string
  readonly reason: string
  readonly origin: string | null
  readonly remote_addr: string | null
  readonly required_access: 'read_only' | 'admin' | null
}

export interface AuthOptions extends TokenSources {
  readonly mode: AuthMode
  readonly clock: Clock
  /** Told of each refusal; must not wait. */
  readonly audit: (record: AuthRecord) => void
}

export interface Auth {
  readonly enabled: boolean
  /** The caller, or throws 401, 403 or 429. */
  admit(request: IncomingMessage, access: Access): Caller
  /** The problem for a web page that may not call: 403 or 429. */
  refuseOrigin(request: IncomingMessage): Problem
  readonly tokens: Tokens
}

const challenge = 'Bearer realm="service-daemon"'
const anonymous: Caller = Object.freeze({ role: 'anonymous' })
const callers = {
  admin: Object.freeze({ role: 'admin' }),
  read: Object.freeze({ role: 'read' }),
  ingress: Object.freeze({ role: 'ingress' }),
} as const

const headerText = (value: string | undefined): string | null => (value === undefined ? null : value.slice(0, 200))

export const createAuth = (options: AuthOptions): Auth => {
  const { mode, admin, readOnly } = options
  const tokens = createTokens(options)
  const enabled = mode === 'bearer' || (mode === 'auto' && (given(admin) || given(readOnly)))
  const refuse = createRefusals(options)

  const authenticate = (request: IncomingMessage, access: 'read' | 'admin'): Caller => {
    const { authorization } = request.headers
    if (authorization === undefined) throw refuse(request, httpErrors.missing_token, access)
    const presented = /^bearer ([\x21-\x7e]{1,4096})$/iu.exec(authorization)?.[1]
    if (presented === undefined) throw refuse(request, httpErrors.malformed_token, access)
    const role = tokens.roleOf(presented)
    if (role === undefined) throw refuse(request, httpErrors.invalid_token, access)
    if (role === 'read' && access === 'admin') throw refuse(request, httpErrors.insufficient_access, access)
    return callers[role]
  }
  return {
    enabled,
    tokens,
    admit(request, access) {
      if (access === 'public') return anonymous
      if (access === 'ingress') return callers.ingress
      return enabled ? authenticate(request, access) : anonymous
    },
    refuseOrigin: (request) => refuse(request, httpErrors.origin_not_allowed, null),
  }
}

type Refuse = (request: IncomingMessage, error: ProblemFactory, access: 'read' | 'admin' | null) => Problem

/** Turns a refusal into its problem, its audit record, and 429 when an address has had too many. */
const createRefusals = ({ clock, audit }: AuthOptions): Refuse => {
  const throttle = createThrottle(clock)
  return (request, error, access) => {
    const family = access === null ? 'cors' : 'auth'
    const address = request.socket.remoteAddress ?? null
    const limited = error !== httpErrors.insufficient_access && throttle.exceeded(`${family} ${address}`)
    const event =
      family === 'cors'
        ? limited
          ? 'cors_origin_rate_limited'
          : 'cors_origin_rejected'
        : limited
          ? 'auth_rate_limited'
          : 'auth_failure'
    audit({
      timestamp_ms: clock.now(),
      event,
      method: request.method ?? '',
      path: (request.url ?? '').split('?', 1).join('').slice(0, 200),
      reason: error.code,
      origin: headerText(request.headers.origin),
      remote_addr: address,
      required_access: access === 'read' ? 'read_only' : access,
    })
    if (limited) return httpErrors.rate_limited({ retryAfter: 60 })
    return error.spec.status === 401
      ? error({
          headers: {
            'www-authenticate': error === httpErrors.invalid_token ? `${challenge}, error="invalid_token"` : challenge,
          },
        })
      : error()
  }
}
