/** The address of an `http` reply handle: a URL, or a JSON text with what goes with it (sessions-20). */
import type { ReplyTargetRequest } from '../../execution/deliveries/contract.js'
import { Sealed, type SecretSeal } from '../../operator/secrets/contract.js'
import {
  boolean,
  canonical,
  createAfterlife,
  createCache,
  object,
  optional,
  outboundTarget,
  parse,
  record,
  refusedUrl,
  string,
  valuesNamed,
  unsendableHeader,
  visibleLine,
  type Clock,
  type Infer,
  type OutboundReach,
  type Secrets,
} from '../../../core/plugin.js'

const Route = object({
  url: string({ min: 1, max: 8000 }),
  headers: optional(record(string({ max: 8000 }))),
  sealed_headers: optional(Sealed),
  allow_private_network: optional(boolean()),
})
type Written = Infer<typeof Route>
/** What an address says, opened. */
export type ReplyRoute = Omit<Written, 'sealed_headers'>
const Headers = record(string())

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const parseRoute = (address: string): Written | undefined => {
  if (!address.trimStart().startsWith('{')) return { url: address }
  const parsed = parse(Route, readJson(address))
  return parsed.ok ? parsed.value : undefined
}

export const urlOf = (address: string): string | undefined => parseRoute(address)?.url

/** Headers are sealed for their place: with another URL they do not open, so that nobody can send them elsewhere. */
const aboutOf = ({ url, allow_private_network = false }: Written): string =>
  JSON.stringify(['reply-headers', url, allow_private_network])

/** The same headers are the same target, however they are ordered. */
const inOrder = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).toSorted(([one], [other]) => (one < other ? -1 : 1)))

/** What an address says, and what may be told of it. `locked`: its headers are sealed, and do not open. */
interface Read {
  readonly route: ReplyRoute | undefined
  readonly locked: boolean
  readonly target: string
  /** Absent if nothing of it is redacted. */
  readonly letGo?: (() => void) | undefined
}

export interface ReplyRoutes {
  /** The route in an address; undefined if it is none. */
  find(address: string): ReplyRoute | 'locked' | undefined
  /** The address with its headers sealed. Throws `secrets_key_unusable`. */
  keep(address: string): string
  /** Scheme, host and port. */
  target(address: string): string
  /** Lets go what is redacted. */
  close(): void
}

export interface ReplyRouteParts {
  /** Without it addresses are kept as they are. */
  readonly seal: () => SecretSeal | undefined
  readonly secrets: Pick<Secrets, 'guard'>
  readonly clock: Clock
}

/** Addresses that were used last: one is read for each attempt. */
const mostKnown = 256

export const createReplyRoutes = ({ seal, secrets, clock }: ReplyRouteParts): ReplyRoutes => {
  const afterlife = createAfterlife(clock)
  const known = createCache<Read>(mostKnown, ({ letGo, route }) => {
    if (letGo !== undefined) afterlife.add(canonical(route?.headers ?? {}).length, letGo)
  })
  /** Those that are named like a secret are redacted: a content type is an ordinary word. */
  const guard = (headers: Readonly<Record<string, string>> = {}): (() => void) | undefined => {
    const undo = Object.entries(headers).flatMap(([name, value]) => valuesNamed(name, value).map(secrets.guard))
    return undo.length === 0 ? undefined : () => undo.forEach((letGo) => letGo())
  }
  const opened = (written: Written): ReplyRoute | undefined => {
    const { sealed_headers, ...route } = written
    if (sealed_headers === undefined) return route
    const parsed = parse(Headers, seal()?.open(sealed_headers, aboutOf(written)))
    return parsed.ok ? { ...route, headers: parsed.value } : undefined
  }
  const read = (address: string): Read => {
    const written = parseRoute(address)
    const route = written && opened(written)
    const locked = written !== undefined && route === undefined
    return { route, locked, target: outboundTarget(written?.url ?? ''), letGo: guard(route?.headers) }
  }
  const look = (address: string): Read => {
    const found = known.get(address) ?? read(address)
    // What is locked now may open when the key is back.
    if (!found.locked) known.set(address, found)
    return found
  }
  return {
    find(address) {
      const { route, locked } = look(address)
      return locked ? 'locked' : route
    },
    keep(address) {
      const written = parseRoute(address)
      const sealing = seal()
      if (written?.headers === undefined || sealing === undefined) return address
      const { headers, sealed_headers: _, ...route } = written
      if (Object.keys(headers).length === 0) return address
      const kept = JSON.stringify({ ...route, sealed_headers: sealing.sealLasting(inOrder(headers), aboutOf(written)) })
      look(kept)
      return kept
    },
    target: (address) => look(address).target,
    close: () => known.clear().forEach(({ letGo }) => letGo?.()),
  }
}

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

const refusedHeaders = (headers: Readonly<Record<string, string>>): string | undefined => {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const odd = unsendableHeader(headers)
  if (odd !== undefined)
    return `must hold headers that are valid in HTTP, and "${visibleLine(odd).slice(0, 80)}" is not`
  const taken = names.find((name) => forbidden.has(name) || name.startsWith('x-forwarded-'))
  if (taken !== undefined) return `must not set the header ${taken}`
  return new Set(names).size < names.length ? 'must hold each header once' : undefined
}

/** Why nothing can be sent to an address; undefined if it can be tried. What is sealed was looked at before. */
export const refusedAddress = (address: string, reach: OutboundReach): string | undefined => {
  const route = parseRoute(address)
  if (route === undefined) return 'must be a URL, or a JSON text with url, headers and allow_private_network'
  if (route.headers !== undefined && route.sealed_headers !== undefined)
    return 'must not have headers beside those that are sealed'
  const refused = refusedUrl(route.url, {
    allow_private_network: route.allow_private_network,
    allow_cidrs: reach.allow_cidrs,
  })
  if (refused === undefined) return refusedHeaders(route.headers ?? {})
  return refused.includes('private')
    ? `${refused} that allow_cidrs of config/http.toml had not when the daemon started`
    : refused
}
