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
  /** No earlier answer is owed on the connection. */
  readonly alone: boolean
}

/** How long a client may take to close a connection on which nothing more is served. */
const lingerMs = 1000

/** Requests that cannot be read are answered on the bare connection, unless another answer is under way there. */
export const answerMalformed = (server: Server, exchange: Exchange, clock: Clock): void => {
  /** The server may not know these connections any more: one that the client keeps would hold its close for ever. */
  const answer = (socket: Socket, problem: Problem): void => {
    sendRaw(socket, problem)
    socket.once(
      'close',
      clock.after(lingerMs, () => socket.destroy()),
    )
  }
  const latest = new WeakMap<object, Open>()
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, {
      request,
      response,
      alone: latest.get(request.socket)?.response.writableFinished ?? true,
    })
  })
  const quiet = (socket: Socket): boolean => {
    const open = latest.get(socket)
    if (open === undefined) return true
    return open.request.complete ? open.response.writableFinished : open.alone && !open.response.headersSent
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (socket.writable && error.code !== 'ECONNRESET' && quiet(socket)) answer(socket, unreadable(error.code))
    else socket.destroy()
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
