/** Decides who calls, and keeps count of refusals (http-23 to http-29). */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.js'
import type { Problem, ProblemFactory } from '../../base/errors.js'
import { httpErrors } from '../errors.js'
import type { Access, Caller, SubjectCaller } from '../routes/route.js'
import { createThrottle } from './throttle.js'
import type { Unready } from './unready.js'
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
  readonly unready: Unready
}

export interface Auth {
  readonly enabled: boolean
  /** The caller, or throws 401, 403 or 429. */
  admit(request: IncomingMessage, access: Access): SubjectCaller<undefined>
  /** Looks at the tokens in force: who was admitted and would not be any more is told by the answer. */
  review(): Review
  /** The problem for one whom the check of a route does not let in, which is counted: its own, or 429. */
  refuseIngress(request: IncomingMessage, route_id: string, problem: Problem): Problem
  /** The same where the check cannot be made, of which whoever calls is not told the reason. */
  refuseUnready(request: IncomingMessage, route_id: string, problem: Problem): Problem
  /** The problem for a web page that may not call: 403 or 429. */
  refuseOrigin(request: IncomingMessage): Problem
  readonly tokens: Tokens
}

/** Whether one who was admitted still is. Looks at each token once, and counts no refusal. */
export type Review = (request: IncomingMessage, access: Access) => boolean

const challenge = 'Bearer realm="service-daemon"'
const callerOf = (role: Caller['role']): SubjectCaller<undefined> => Object.freeze({ role, subject: undefined })
const anonymous = callerOf('anonymous')
const callers = { admin: callerOf('admin'), read: callerOf('read'), ingress: callerOf('ingress') }

const isOpenTo = (role: Caller['role'] | undefined, access: 'read' | 'admin'): boolean =>
  role === 'admin' || role === access

const presentedIn = (authorization: string): string | undefined =>
  /^bearer ([\x21-\x7e]{1,4096})$/iu.exec(authorization)?.[1]

const headerText = (value: string | undefined): string | null => (value === undefined ? null : value.slice(0, 200))

export const createAuth = (options: AuthOptions): Auth => {
  const { mode, admin, readOnly } = options
  const tokens = createTokens(options)
  const enabled = mode === 'bearer' || (mode === 'auto' && (given(admin) || given(readOnly)))
  const count = createCount(options)
  const refuse = refusalsOf(count)

  const authenticate = (request: IncomingMessage, access: 'read' | 'admin'): SubjectCaller<undefined> => {
    const { authorization } = request.headers
    if (authorization === undefined) throw refuse(request, httpErrors.missing_token, access)
    const presented = presentedIn(authorization)
    if (presented === undefined) throw refuse(request, httpErrors.malformed_token, access)
    const role = tokens.roleOf(presented)
    if (role === undefined) throw refuse(request, httpErrors.invalid_token, access)
    if (!isOpenTo(role, access)) throw refuse(request, httpErrors.insufficient_access, access)
    return callers[role]
  }
  const countIngress = (request: IncomingMessage, route_id: string, { code }: Problem): Problem | undefined =>
    count(request, { bucket: `ingress ${route_id}`, events: authEvents, reason: code })
  return {
    enabled,
    tokens,
    admit(request, access) {
      if (access === 'public') return anonymous
      if (access === 'ingress') return callers.ingress
      return enabled ? authenticate(request, access) : anonymous
    },
    review() {
      const roles = new Map<string, ReturnType<Tokens['roleOf']>>()
      return ({ headers: { authorization = '' } }, access) => {
        if (!enabled || access === 'public' || access === 'ingress') return true
        if (!roles.has(authorization)) roles.set(authorization, tokens.roleOf(presentedIn(authorization) ?? ''))
        return isOpenTo(roles.get(authorization), access)
      }
    },
    refuseIngress: (request, route_id, problem) => countIngress(request, route_id, problem) ?? problem,
    refuseUnready(request, route_id, problem) {
      options.unready.tell(route_id, problem)
      return countIngress(request, route_id, problem) ?? httpErrors.ingress_not_ready({ cause: problem })
    },
    refuseOrigin: (request) => refuse(request, httpErrors.origin_not_allowed, null),
  }
}

type Refuse = (request: IncomingMessage, error: ProblemFactory, access: 'read' | 'admin' | null) => Problem

/** A refusal as it is counted. */
interface Counted {
  readonly bucket: string
  readonly events: readonly [refused: AuthRecord['event'], limited: AuthRecord['event']]
  readonly reason: string
  readonly access?: 'read' | 'admin' | null
  /** It is no guess, and never too many. */
  readonly isFree?: boolean
}

const authEvents = ['auth_failure', 'auth_rate_limited'] as const
const corsEvents = ['cors_origin_rejected', 'cors_origin_rate_limited'] as const

/** Counts a refusal and has it recorded; 429 when an address has had too many. */
const createCount = ({ clock, audit }: AuthOptions) => {
  const throttle = createThrottle(clock)
  return (request: IncomingMessage, counted: Counted): Problem | undefined => {
    const { bucket, events, reason, access = null, isFree = false } = counted
    const address = request.socket.remoteAddress ?? null
    const limited = !isFree && throttle.exceeded(`${bucket} ${address}`)
    audit({
      timestamp_ms: clock.now(),
      event: events[limited ? 1 : 0],
      method: request.method ?? '',
      path: (request.url ?? '').split('?', 1).join('').slice(0, 200),
      reason,
      origin: headerText(request.headers.origin),
      remote_addr: address,
      required_access: access === 'read' ? 'read_only' : access,
    })
    return limited ? httpErrors.rate_limited({ retryAfter: 60 }) : undefined
  }
}

/** Turns a refusal into its problem, its audit record, and 429 when an address has had too many. */
const refusalsOf =
  (count: ReturnType<typeof createCount>): Refuse =>
  (request, error, access) => {
    const [bucket, events] = access === null ? (['cors', corsEvents] as const) : (['auth', authEvents] as const)
    const isFree = error === httpErrors.insufficient_access
    const limited = count(request, { bucket, events, reason: error.code, access, isFree })
    if (limited !== undefined) return limited
    if (error.spec.status !== 401) return error()
    const reason = error === httpErrors.invalid_token ? `${challenge}, error="invalid_token"` : challenge
    return error({ headers: { 'www-authenticate': reason } })
  }
