/** The address of an `http` reply handle: a URL, or a JSON text with what goes with it (sessions-20). */
import type { ReplyTargetRequest } from '../../execution/deliveries/contract.js'
import {
  boolean,
  createCache,
  object,
  optional,
  outboundTarget,
  parse,
  record,
  refusedUrl,
  string,
  type Infer,
  type OutboundReach,
} from '../../../core/plugin.js'

const Route = object({
  url: string({ min: 1, max: 8000 }),
  headers: optional(record(string({ max: 8000 }))),
  allow_private_network: optional(boolean()),
})
export type ReplyRoute = Infer<typeof Route>

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What an address says, and what may be told of it. */
interface Read {
  readonly route: ReplyRoute | undefined
  readonly target: string
}

/** Addresses that were used last: one is read for each attempt. */
const known = createCache<Read>(256)

const read = (address: string): Read => {
  const route = parseRoute(address)
  return { route, target: outboundTarget(route?.url ?? '') }
}

const parseRoute = (address: string): ReplyRoute | undefined => {
  if (!address.trimStart().startsWith('{')) return { url: address }
  const parsed = parse(Route, readJson(address))
  return parsed.ok ? parsed.value : undefined
}

const look = (address: string): Read => {
  const found = known.get(address) ?? read(address)
  known.set(address, found)
  return found
}

/** The route in an address; undefined if it is none. */
export const routeOf = (address: string): ReplyRoute | undefined => look(address).route

/** The address of a requested target. A requested one never reaches a private network. */
export const addressOf = (request: ReplyTargetRequest): string | undefined => {
  if (request.type !== 'http') return undefined
  const { url, headers = {} } = request
  return Object.keys(headers).length === 0 ? url : JSON.stringify({ url, headers })
}

/**
 * Headers that are ours, the connection's, or could carry a credential of the daemon's host (deliveries-25). The
 * contract's list ends at `x-api-key`: `expect` and `keep-alive` cannot be sent by a client that sends one request at a
 * time, and `__proto__` is no name that objects can be trusted with.
 */
const forbidden: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'forwarded',
  'host',
  'idempotency-key',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-api-key',
  'expect',
  'keep-alive',
  '__proto__',
])
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u
const headerValue = /^[\t\u0020-\u007e\u0080-\u00ff]*$/u

const refusedHeaders = (headers: Readonly<Record<string, string>>): string | undefined => {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  if (
    !names.every((name) => headerName.test(name)) ||
    !Object.values(headers).every((value) => headerValue.test(value))
  )
    return 'must hold headers that are valid in HTTP'
  const taken = names.find((name) => forbidden.has(name) || name.startsWith('x-forwarded-'))
  if (taken !== undefined) return `must not set the header ${taken}`
  return new Set(names).size < names.length ? 'must hold each header once' : undefined
}

/** Why nothing can be sent to an address; undefined if it can be tried. */
export const refusedAddress = (address: string, reach: OutboundReach): string | undefined => {
  const route = routeOf(address)
  if (route === undefined) return 'must be a URL, or a JSON text with url, headers and allow_private_network'
  return (
    refusedUrl(route.url, { ...reach, allow_private_network: route.allow_private_network }) ??
    refusedHeaders(route.headers ?? {})
  )
}

/** Scheme, host and port. */
export const targetOf = (address: string): string => look(address).target
