/** Server-sent events: one socket follows one view of the bus (events-1 to events-4). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.js'
import type { Bus, Sink, Subscription } from '../../events/bus.js'
import { httpErrors } from '../errors.js'
import type { Review } from '../access/auth.js'
import type { Access, StreamReply } from '../routes/route.js'
import type { Unsent } from './unsent.js'

const heartbeatMs = 10_000
/** Unsent bytes a client may leave; then its subscription waits for its socket and goes on from the replay window. */
const unsentLimit = 262_144
/** Unsent bytes beyond which a client is sent no deltas. */
const roomLimit = 65_536
const heartbeat = Buffer.from('event: heartbeat\ndata: {"type":"heartbeat"}\n\n')
const opening = Buffer.from(': connected\n\n')

/** The larger of header and query; undefined if both are missing or blank. */
export const readCursor = (header: string | undefined, query: string | undefined): bigint | undefined => {
  const given = [
    { path: 'header.last-event-id', text: header?.trim() ?? '' },
    { path: 'query.cursor', text: query?.trim() ?? '' },
  ]
  const cursors = given
    .filter(({ text }) => text !== '')
    .map(({ path, text }) => {
      if (!/^\d{1,20}$/u.test(text) || BigInt(text) >= 1n << 64n)
        throw httpErrors.invalid_event_cursor({ errors: [{ path, rule: 'must be a decimal event id below 2^64' }] })
      return BigInt(text)
    })
  return cursors.reduce<bigint | undefined>(
    (largest, cursor) => (largest === undefined || cursor > largest ? cursor : largest),
    undefined,
  )
}

export interface StreamRequest extends StreamReply {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly access: Access
  readonly cursor: bigint | undefined
  /** Id of the newest event before the handler looked at the state. */
  readonly before: string
  readonly headers: Readonly<Record<string, string>>
}
export interface Streams {
  readonly size: number
  /** Id of the newest event. */
  newestId(): string
  open(stream: StreamRequest): void
  /** Ends every stream cleanly; clients come back with their cursor. */
  endAll(): void
}

const writeHead = ({ response, headers }: StreamRequest): void => {
  // The connection ends with the stream, so frames need no chunk headers and one buffer serves all clients.
  response.removeHeader('transfer-encoding')
  response.shouldKeepAlive = false
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...headers,
  })
}

export interface StreamsOptions {
  readonly bus: Bus
  readonly clock: Clock
  readonly unsent: Unsent
  readonly review: () => Review
}
interface Followed {
  readonly stream: StreamRequest
  readonly subscription: Subscription
}

export const createStreams = ({ bus, clock, unsent, review }: StreamsOptions): Streams => {
  const open = new Map<ServerResponse, Followed>()
  let cancel: (() => void) | undefined
  const beat = (): void => {
    const mayStay = review()
    for (const [response, { stream }] of Array.from(open))
      if (!mayStay(stream.request, stream.access)) finish(response)
      else if (response.writableLength === 0) response.write(heartbeat)
    cancel = open.size > 0 ? clock.after(heartbeatMs, beat) : undefined
  }
  const finish = (response: ServerResponse): void => {
    leave(response)
    response.end()
  }
  const leave = (response: ServerResponse): void => {
    open.get(response)?.subscription.leave()
    open.delete(response)
    if (open.size > 0) return
    cancel?.()
    cancel = undefined
  }
  return {
    get size() {
      return open.size
    },
    newestId: bus.newestId,
    open(stream) {
      const { request, response } = stream
      const { socket } = request
      if (socket.destroyed) return
      writeHead(stream)
      if (request.method === 'HEAD') return void response.end()
      response.write(opening)
      if (stream.first !== undefined) response.write(firstFrame(stream, stream.first))
      const subscription = subscribe(bus, unsent, stream)
      open.set(response, { stream, subscription })
      cancel ??= clock.after(heartbeatMs, beat)
      response.on('drain', subscription.catchUp)
      // A response in line behind another is never told that the connection has gone.
      socket.once('close', () => leave(response))
      // A client that sends nothing more may have gone, and only a write would tell.
      socket.once('end', () => finish(response))
      if (socket.readableEnded) finish(response)
    },
    endAll() {
      for (const response of Array.from(open.keys())) finish(response)
    },
  }
}

/** It moves no cursor that the client brought. */
const firstFrame = ({ cursor, before }: StreamRequest, { name, data }: NonNullable<StreamReply['first']>): string =>
  `event: ${name}\n${cursor === undefined ? `id: ${before}\n` : ''}data: ${JSON.stringify({ type: name, ...data })}\n\n`

const subscribe = (
  bus: Bus,
  unsent: Unsent,
  { response, filter, include, first, before, ...stream }: StreamRequest,
): Subscription => {
  const cursor = stream.cursor ?? (first === undefined ? undefined : BigInt(before))
  const sink: Sink = {
    ready: () => response.writableLength <= unsentLimit,
    roomy: () => response.writableLength <= roomLimit,
    write: (frames) => {
      response.write(frames)
      unsent.watch(response)
    },
  }
  return bus.subscribe(sink, {
    ...(filter !== undefined && { filter }),
    ...(cursor !== undefined && { cursor }),
    include,
  })
}
