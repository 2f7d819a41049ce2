/**
 * Requests to the outside: the one place where the daemon connects to hosts
 * that others name. Every answer of the resolver is checked, the connection
 * goes to the checked addresses and to no others, redirects are not followed,
 * proxy variables are not read, nothing is decompressed. Failures are codes:
 * they carry no path, query, header or body (deliveries-30).
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../base/clock.js'
import { isInCidrs, isLocalName, isPublicAddress, literalAddress } from './address-rules.js'
import { Exchange, failure, type OutboundAnswer } from './exchange.js'
import { outboundFailure } from './outbound-failure.js'
import { createNames, type Resolve, type ResolvedAddress } from './names.js'
import { createPools, type Pools } from './pools.js'

export type { OutboundAnswer } from './exchange.js'
export type { Resolve, ResolvedAddress } from './names.js'

/** Where a request may go. */
export interface OutboundReach {
  /** Lifts the check of addresses and nothing else. */
  readonly allow_private_network?: boolean | undefined
  /** Ranges that are reachable although they are special, such as the one a proxy answers names from. */
  readonly allow_cidrs?: readonly string[] | undefined
}

/** One request to the outside. */
export interface OutboundRequest extends OutboundReach {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** From the lookup of the name to the last byte; 15,000 when absent. */
  readonly timeout_ms?: number
  /** Most bytes of the answer's body; 65,536 when absent. */
  readonly max_answer_bytes?: number
  /** True if only status and headers count: a body that is long or late is then no failure, and `body` is empty. */
  readonly ignore_body?: boolean
  readonly signal: AbortSignal
}

/** A client for requests to the outside. */
export interface Outbound {
  /** Never rejects. The socket is closed when the signal aborts or the time is over. */
  request(request: OutboundRequest): Promise<OutboundAnswer>
  /** Ends every connection. */
  close(): Promise<void>
}

/** How a client works. */
export interface OutboundOptions {
  readonly clock: Clock
  /** Connections to one host at a time, 64 when absent; further requests wait for one. */
  readonly connections?: number
  /** For tests. */
  readonly resolve?: Resolve
}

interface Refused {
  readonly rule: string
  readonly code: 'outbound_url_invalid' | 'outbound_address_refused'
}

/** The URL, or why it cannot be asked. */
const readUrl = (text: string, reach: OutboundReach): URL | Refused => {
  const invalid = (rule: string): Refused => ({ rule, code: 'outbound_url_invalid' })
  if (!URL.canParse(text)) return invalid('must be an absolute URL')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return invalid('must begin with http:// or https://')
  if (url.username !== '' || url.password !== '') return invalid('must carry no user name and no password')
  return isRefusedHost(url.hostname, reach)
    ? { rule: 'must not name a private, local or special address', code: 'outbound_address_refused' }
    : url
}

/**
 * Why a URL cannot be asked, in words that can follow the name of a field; undefined if nothing speaks against it
 * before its name is resolved.
 */
export const refusedUrl = (text: string, reach: OutboundReach = {}): string | undefined => {
  const read = readUrl(text, reach)
  return 'rule' in read ? read.rule : undefined
}

/** What may be told of a URL: `http:<scheme>://<host>[:<port>]`. */
export const outboundTarget = (text: string): string => `http:${URL.canParse(text) ? new URL(text).origin : 'invalid'}`

const isReachable = (address: string, { allow_private_network = false, allow_cidrs = [] }: OutboundReach): boolean =>
  allow_private_network || isPublicAddress(address) || isInCidrs(address, allow_cidrs)

const isRefusedHost = (hostname: string, reach: OutboundReach): boolean => {
  const literal = literalAddress(hostname)
  return literal === undefined
    ? isLocalName(hostname) && reach.allow_private_network !== true
    : !isReachable(literal, reach)
}

/** What the requests of one `Outbound` share. */
interface OutboundClient {
  readonly clock: Clock
  readonly resolve: Resolve
  readonly pools: Pools
}

/** As many as there are deliveries and calls at a time in a burst: fewer would hold them up at a slow host. */
const defaultConnections = 64

export const createOutbound = ({
  clock,
  connections = defaultConnections,
  resolve = createNames(clock),
}: OutboundOptions): Outbound => {
  const client: OutboundClient = { clock, resolve, pools: createPools(connections) }
  return { request: (request) => perform(client, request), close: client.pools.close }
}

const defaultTimeoutMs = 15_000
const defaultAnswerBytes = 65_536
const mostRequestBytes = 64 * 1024 * 1024

/** One deadline over everything: name, connection, answer. */
const perform = (client: OutboundClient, request: OutboundRequest): Promise<OutboundAnswer> =>
  new Promise((resolve) => {
    const { signal, timeout_ms = defaultTimeoutMs, ignore_body = false } = request
    const abort = (): void => exchange.end(failure('outbound_aborted'))
    const cancel = client.clock.after(timeout_ms, () => exchange.end(failure('outbound_timed_out')))
    const exchange: Exchange = new Exchange({
      clock: client.clock,
      ignore_body,
      max_answer_bytes: request.max_answer_bytes ?? defaultAnswerBytes,
      settle: (answer) => {
        cancel()
        signal.removeEventListener('abort', abort)
        resolve(answer)
      },
    })
    if (signal.aborted) return abort()
    // Any number of requests may share a signal.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', abort, { once: true })
    send(client, request, exchange).catch((error: unknown) => exchange.end(failure(outboundFailure(error))))
  })

const send = async (client: OutboundClient, request: OutboundRequest, exchange: Exchange): Promise<void> => {
  const { method, headers, body } = request
  const url = readUrl(request.url, request)
  if ('rule' in url) return exchange.end(failure(url.code))
  if (body !== undefined && Buffer.byteLength(body) > mostRequestBytes)
    return exchange.end(failure('outbound_request_invalid'))
  const addresses = await addressesOf(client, url)
  if (addresses.length === 0) return exchange.end(failure('outbound_name_not_found'))
  if (!addresses.every(({ address }) => isReachable(address, request)))
    return exchange.end(failure('outbound_address_refused'))
  if (exchange.isOver) return
  await client.pools.dispatch(
    { origin: url.origin, addresses },
    { method, path: `${url.pathname}${url.search}`, headers: headers ?? null, body: body ?? null },
    exchange,
  )
}

/** The only lookup of a request; what it gives is checked, and is what is connected to. */
const addressesOf = async ({ resolve }: OutboundClient, { hostname }: URL): Promise<readonly ResolvedAddress[]> => {
  const literal = literalAddress(hostname)
  if (literal !== undefined) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }]
  return resolve(hostname).catch(() => [])
}
