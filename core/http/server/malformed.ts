/** Requests that node:http hands over without a request to answer: those that cannot be read, and CONNECT. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../base/clock.js'
import type { Problem } from '../../base/errors.js'
import { badRequest, httpErrors } from '../errors.js'
import type { Exchange } from './exchange.js'
import { sendRaw } from './reply.js'

interface Open {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The answer ahead of it on the connection. */
  readonly before: ServerResponse | undefined
}

/** How long a client may take to close a connection on which nothing more is served. */
const lingerMs = 1000

/** When an answer has left, and with it all those ahead of it; never if its connection goes first. */
const whenSent = (response: ServerResponse | undefined, then: () => void): void => {
  if (response === undefined || response.writableFinished) then()
  else response.once('finish', then)
}

/** Requests that cannot be read are answered on the bare connection, behind the answers that are owed there. */
export const answerMalformed = (server: Server, exchange: Exchange, clock: Clock): void => {
  const latest = new WeakMap<object, Open>()
  /** Connections whose last answer is known: what still comes there is of no use. */
  const ending = new WeakSet<object>()
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const last = latest.get(request.socket)?.response
    latest.set(request.socket, { request, response, before: last?.writableFinished === false ? last : undefined })
  })
  /** The server may not know these connections any more: one that the client keeps would hold its close for ever. */
  const end = (socket: Socket, problem?: Problem): void => {
    if (!socket.writable) return
    if (problem === undefined) socket.end()
    else sendRaw(socket, problem)
    socket.once(
      'close',
      clock.after(lingerMs, () => socket.destroy()),
    )
  }
  const answer = (socket: Socket, problem: Problem): void => {
    ending.add(socket)
    const { request, response, before } = latest.get(socket) ?? {}
    if (request === undefined || request.complete) return whenSent(response, () => end(socket, problem))
    // Of a request that breaks off this is the answer, unless it has one.
    whenSent(before, () => {
      if (response?.headersSent === true) whenSent(response, () => end(socket))
      else end(socket, problem)
    })
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else if (!ending.has(socket)) answer(socket, unreadable(error.code))
  })
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    answer(socket, httpErrors.method_not_allowed({ details: { method: 'CONNECT' } }))
  })
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    exchange.refuse(request, response, httpErrors.expectation_failed()),
  )
}

const unreadable = (code: string | undefined) => {
  if (code === 'HPE_HEADER_OVERFLOW') return httpErrors.headers_too_large()
  return code === 'ERR_HTTP_REQUEST_TIMEOUT'
    ? httpErrors.request_timeout()
    : badRequest({ path: 'request', rule: 'must be well-formed HTTP/1.1' })
}
