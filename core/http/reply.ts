/** Writes answers. Nothing else in the daemon touches a response, except the event streams. */
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Problem } from '../errors.js'
import { problemDocument, problemHeaders, problemType } from './problem.js'

export interface Answer {
  readonly status: number
  readonly type?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

export const problemAnswer = (problem: Problem, redact: (text: string) => string): Answer =>
  ({ status: problem.spec.status, type: problemType, body: redact(JSON.stringify(problemDocument(problem))), headers: problemHeaders(problem) })

export const send = (request: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Answer): void => {
  if (response.headersSent || response.destroyed) return
  const bytes = body === undefined ? 0 : Buffer.byteLength(body)
  response.writeHead(status, { ...always, ...(type !== undefined && { 'content-type': type }), ...(status !== 204 && { 'content-length': bytes }), ...headers })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Answers on a connection whose request could not even be read, and closes it. */
export const sendRaw = (socket: Socket, problem: Problem): void => {
  const body = JSON.stringify(problemDocument(problem))
  const head = [`HTTP/1.1 ${problem.spec.status} ${STATUS_CODES[problem.spec.status] ?? ''}`, `content-type: ${problemType}`, `content-length: ${Buffer.byteLength(body)}`, 'connection: close']
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
