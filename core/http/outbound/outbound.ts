/**
 * Requests to the outside: the one place where the daemon connects to hosts
 * that others name. Every answer of the resolver is checked, the connection
 * goes to the checked addresses and to no others, redirects are not followed,
 * proxy variables are not read, nothing is decompressed. Failures are codes:
 * they carry no path, query, header or body (deliveries-30).
 */
import type { Clock } from '../../base/clock.js'
import { createDeadlines, onAbort, type Deadlines } from './deadlines.js'
import { destinationOf, isReachable, type Destination, type OutboundReach } from './destination.js'
import { Exchange, failure, type OutboundAnswer } from './exchange.js'
import { Flow, type OutboundFlow } from './flow.js'
import { outboundFailure, type OutboundCode } from './outbound-failure.js'
import { createNames, type Resolve, type ResolvedAddress } from './names.js'
import { createPools, type Pools } from './pools.js'

export type { OutboundReach } from './destination.js'
export type { OutboundAnswer } from './exchange.js'
export type { OutboundFlow } from './flow.js'
export type { Resolve, ResolvedAddress } from './names.js'

interface Wish extends OutboundReach {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A request whose answer is read while it comes, for as long as it takes. */
export interface OutboundFlowRequest extends Wish {
  /** From the lookup of the name to the head of the answer; 15,000 when absent. */
  readonly timeout_ms?: number
  /** Most bytes of the answer that came and that nobody has read; 8 MiB when absent. */
  readonly most_unread_bytes?: number
  /** Ends it, also while the answer comes. */
  readonly signal?: AbortSignal
}

/** One request to the outside. */
export interface OutboundRequest extends Wish {
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
  /** Never rejects. Resolves with the head of the answer. */
  flow(request: OutboundFlowRequest): Promise<OutboundFlow>
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

/**
 * Why a URL cannot be asked, in words that can follow the name of a field; undefined if nothing speaks against it
 * before its name is resolved.
 */
export const refusedUrl = (text: string, reach: OutboundReach = {}): string | undefined => {
  const read = destinationOf(text, reach)
  return 'rule' in read ? read.rule : undefined
}

/** What may be told of a URL: `http:<scheme>://<host>[:<port>]`. */
export const outboundTarget = (text: string): string => `http:${URL.canParse(text) ? new URL(text).origin : 'invalid'}`

/** What the requests of one `Outbound` share. */
interface OutboundClient {
  readonly deadlines: Deadlines
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
  const client: OutboundClient = { deadlines: createDeadlines(clock), resolve, pools: createPools(connections) }
  return {
    request: (request) => perform(client, request),
    flow: (request) => begin(client, request),
    close: client.pools.close,
  }
}

const defaultTimeoutMs = 15_000
const defaultAnswerBytes = 65_536
const defaultUnreadBytes = 8 * 1024 * 1024
const mostRequestBytes = 64 * 1024 * 1024

/** One deadline over everything: name, connection, answer. */
const perform = (client: OutboundClient, request: OutboundRequest): Promise<OutboundAnswer> =>
  new Promise((resolve) => {
    const { signal, timeout_ms = defaultTimeoutMs, ignore_body = false } = request
    if (signal.aborted) return resolve(failure('outbound_aborted'))
    const abort = (): void => exchange.end(failure('outbound_aborted'))
    const cancel = client.deadlines.after(timeout_ms, () => exchange.end(failure('outbound_timed_out')))
    const forget = onAbort(signal, abort)
    const exchange: Exchange = new Exchange({
      deadlines: client.deadlines,
      ignore_body,
      max_answer_bytes: request.max_answer_bytes ?? defaultAnswerBytes,
      settle: (answer) => {
        cancel()
        forget()
        resolve(answer)
      },
    })
    void send(client, request, { handler: exchange, refuse: (code) => exchange.end(failure(code)) })
  })

/** The deadline is over the head of the answer; the signal ends it at any time. */
const begin = (client: OutboundClient, request: OutboundFlowRequest): Promise<OutboundFlow> =>
  new Promise((resolve) => {
    const { signal, timeout_ms = defaultTimeoutMs, most_unread_bytes = defaultUnreadBytes } = request
    if (signal?.aborted === true) return resolve({ type: 'failure', code: 'outbound_aborted' })
    const cancel = client.deadlines.after(timeout_ms, () => flow.end('outbound_timed_out'))
    const forget = signal && onAbort(signal, () => flow.end('outbound_aborted'))
    const flow: Flow = new Flow({
      most_unread_bytes,
      settle: (head) => {
        cancel()
        resolve(head)
      },
      over: () => forget?.(),
    })
    void send(client, request, { handler: flow, refuse: (code) => flow.end(code) })
  })

/** Who takes a request, and is told why it was never sent. */
interface Taker {
  readonly handler: Exchange | Flow
  readonly refuse: (code: OutboundCode) => void
}

const send = async (client: OutboundClient, request: Wish, taker: Taker): Promise<void> => {
  try {
    const code = await dispatched(client, request, taker.handler)
    if (code !== undefined) taker.refuse(code)
  } catch (error) {
    taker.refuse(outboundFailure(error))
  }
}

/** Sends it; or why it was not sent. */
const dispatched = async (
  client: OutboundClient,
  request: Wish,
  handler: Exchange | Flow,
): Promise<OutboundCode | undefined> => {
  const { method, headers, body } = request
  const destination = destinationOf(request.url, request)
  if ('rule' in destination) return destination.code
  if (body !== undefined && Buffer.byteLength(body) > mostRequestBytes) return 'outbound_request_invalid'
  const addresses = await addressesOf(client, destination)
  if (addresses.length === 0) return 'outbound_name_not_found'
  if (!addresses.every(({ address }) => isReachable(address, request))) return 'outbound_address_refused'
  if (handler.isOver) return undefined
  await client.pools.dispatch(
    { origin: destination.origin, addresses },
    { method, path: destination.path, headers: headers ?? null, body: body ?? null },
    handler,
  )
  return undefined
}

/** The only lookup of a request; what it gives is checked, and is what is connected to. */
const addressesOf = async (
  { resolve }: OutboundClient,
  { hostname, literal }: Destination,
): Promise<readonly ResolvedAddress[]> => (literal === undefined ? resolve(hostname).catch(() => []) : [literal])
