/**
 * Requests to the outside: the one place where the daemon connects to hosts
 * that others name. Every answer of the resolver is checked, the connection
 * goes to the checked addresses and to no others, redirects are not followed,
 * proxy variables are not read, nothing is decompressed. Failures are codes:
 * they carry no path, query, header or body (deliveries-30).
 */
import { lookup } from 'node:dns/promises'
import type { Dispatcher, Pool } from 'undici'
import { assert } from '../../base/assert.js'
import { createCache } from '../../base/cache.js'
import type { Clock } from '../../base/clock.js'
import { isInCidrs, isLocalName, isPublicAddress, literalAddress } from './address-rules.js'
import { outboundFailure, type OutboundCode } from './outbound-failure.js'

/** An address that a name resolves to. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}
/** All addresses of a name. Rejects if there are none. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

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

/** What came back. A redirect is an answer like any other. Header names are in lower case. */
export type OutboundAnswer =
  | {
      readonly type: 'answer'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
    }
  | { readonly type: 'failure'; readonly code: OutboundCode }

/** A client for requests to the outside. */
export interface Outbound {
  /** Never rejects. The socket is closed when the signal aborts or the time is over. */
  request(request: OutboundRequest): Promise<OutboundAnswer>
  /** Ends every connection. */
  close(): Promise<void>
}

/** `resolve` is for tests. */
export interface OutboundOptions {
  readonly clock: Clock
  readonly resolve?: Resolve
}

/**
 * Why a URL cannot be asked, in words that can follow the name of a field; undefined if nothing speaks against it
 * before its name is resolved.
 */
export const refusedUrl = (text: string, reach: OutboundReach = {}): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return 'must be an absolute URL'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must carry no user name and no password'
  return isRefusedHost(url.hostname, reach) ? 'must not name a private, local or special address' : undefined
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

/** Lookups block a thread of the pool that the disk needs too: so few at a time, and one for each name. */
const mostLookups = 2

const createResolve = (): Resolve => {
  const asked = new Map<string, Promise<readonly ResolvedAddress[]>>()
  const waiting: (() => void)[] = []
  let free = mostLookups
  const ask = async (hostname: string): Promise<readonly ResolvedAddress[]> => {
    if (free === 0)
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
      })
    else free -= 1
    try {
      return await lookup(hostname, { all: true, verbatim: true })
    } finally {
      asked.delete(hostname)
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
  return (hostname) => {
    const known = asked.get(hostname) ?? ask(hostname)
    asked.set(hostname, known)
    return known
  }
}

/**
 * Pools are kept by origin and checked addresses, so a connection is used again only for a request whose own check gave
 * the same addresses.
 */
const mostPools = 64
const maxHeaderSize = 16_384
/** A socket that ends while undici pauses it ends the process. Little is unread: `readBody` is always quicker. */
const neverPaused = Number.MAX_SAFE_INTEGER
const attemptMs = 2000

type Undici = typeof import('undici')

const openPool = (undici: Undici, origin: string, addresses: readonly ResolvedAddress[]): Pool =>
  new undici.Pool(origin, {
    connections: 8,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptMs,
    connect: {
      timeout: 0,
      lookup: (_hostname, _options, found) =>
        found(
          null,
          addresses.map((one) => ({ ...one })),
        ),
    },
  })

const createPools = () => {
  const pools = createCache<Pool>(mostPools, (pool) => void pool.close())
  const get = (undici: Undici, origin: string, addresses: readonly ResolvedAddress[]): Pool => {
    const key = `${origin} ${addresses
      .map(({ address }) => address)
      .toSorted()
      .join(' ')}`
    const pool = pools.get(key) ?? openPool(undici, origin, addresses)
    pools.set(key, pool)
    return pool
  }
  const close = async (): Promise<void> => {
    await Promise.all(pools.clear().map((pool) => pool.destroy()))
  }
  return { get, close }
}

/** What the requests of one `Outbound` share. */
interface OutboundClient {
  readonly clock: Clock
  readonly resolve: Resolve
  readonly load: () => Promise<Undici>
  readonly pools: ReturnType<typeof createPools>
}

export const createOutbound = ({ clock, resolve = createResolve() }: OutboundOptions): Outbound => {
  let loaded: Promise<Undici> | undefined
  const client: OutboundClient = { clock, resolve, load: () => (loaded ??= import('undici')), pools: createPools() }
  return { request: (request) => timed(client, request), close: client.pools.close }
}

const defaultTimeoutMs = 15_000
const defaultAnswerBytes = 65_536
const mostRequestBytes = 64 * 1024 * 1024

/** One deadline over everything: name, connection, answer. */
const timed = async (client: OutboundClient, request: OutboundRequest): Promise<OutboundAnswer> => {
  const deadline = new AbortController()
  const cancel = client.clock.after(request.timeout_ms ?? defaultTimeoutMs, () => deadline.abort())
  try {
    return await send(client, request, AbortSignal.any([request.signal, deadline.signal]))
  } catch (error) {
    if (request.signal.aborted) return failure('outbound_aborted')
    return failure(deadline.signal.aborted ? 'outbound_timed_out' : outboundFailure(error))
  } finally {
    cancel()
  }
}

const failure = (code: OutboundCode): OutboundAnswer => ({ type: 'failure', code })

const send = async (client: OutboundClient, request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer> => {
  const refused = refusedUrl(request.url, request)
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined
  if (url === undefined) return failure('outbound_url_invalid')
  if (refused !== undefined)
    return failure(isRefusedHost(url.hostname, request) ? 'outbound_address_refused' : 'outbound_url_invalid')
  if (request.body !== undefined && Buffer.byteLength(request.body) > mostRequestBytes)
    return failure('outbound_request_invalid')
  const undici = await client.load()
  const addresses = await addressesOf(client, url, signal)
  if (addresses === undefined) return failure('outbound_name_not_found')
  if (!addresses.every(({ address }) => isReachable(address, request))) return failure('outbound_address_refused')
  const answer = await client.pools.get(undici, url.origin, addresses).request({
    method: request.method,
    path: `${url.pathname}${url.search}`,
    signal,
    highWaterMark: neverPaused,
    headers: { ...request.headers },
    ...(request.body !== undefined && { body: Buffer.from(request.body) }),
  })
  return readAnswer(client, request, answer)
}

/** The only lookup of a request; what it gives is what is connected to. */
const addressesOf = async (
  { resolve }: OutboundClient,
  url: URL,
  signal: AbortSignal,
): Promise<readonly ResolvedAddress[] | undefined> => {
  const literal = literalAddress(url.hostname)
  if (literal !== undefined) return [{ address: literal, family: literal.includes(':') ? 6 : 4 }]
  const found = await untilAborted(
    resolve(url.hostname).catch(() => []),
    signal,
  )
  return found.length === 0 ? undefined : found
}

const untilAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })

const readAnswer = async (
  { clock }: OutboundClient,
  { ignore_body = false, max_answer_bytes = defaultAnswerBytes }: OutboundRequest,
  answer: Dispatcher.ResponseData,
): Promise<OutboundAnswer> => {
  const { statusCode: status, body } = answer
  const headers = Object.fromEntries(
    Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
  if (ignore_body) {
    await letGo(clock, body)
    return { type: 'answer', status, headers, body: new Uint8Array() }
  }
  const bytes = await readBody(body, max_answer_bytes)
  return bytes === undefined ? failure('outbound_answer_too_large') : { type: 'answer', status, headers, body: bytes }
}

const readBody = async (body: Dispatcher.ResponseData['body'], most: number): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    assert(chunk instanceof Uint8Array, 'a body is made of bytes')
    bytes += chunk.length
    if (bytes > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const ignoredBytes = 16_384
const ignoredMs = 1000

/** Reads a short rest, so that the connection can be used again; else the connection ends. */
const letGo = async (clock: Clock, body: Dispatcher.ResponseData['body']): Promise<void> => {
  const late = clock.after(ignoredMs, () => body.destroy())
  await readBody(body, ignoredBytes).catch(() => undefined)
  late()
}
