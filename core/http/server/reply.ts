/** Writes answers. Nothing else in the daemon touches a response, except the event streams. */
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { redactedAction, redactedSentence, type Problem } from '../../base/errors.js'
import { restOf } from './body-arrival.js'
import { problemDocument, problemHeaders, problemType } from '../problem.js'

export interface Answer {
  readonly status: number
  readonly type?: string
  /** Text, or the parts of a long one. */
  readonly body?: string | readonly Uint8Array[]
  readonly headers?: Readonly<Record<string, string>>
}

export const problemAnswer = (problem: Problem, redact: (text: string) => string): Answer => ({
  status: problem.spec.status,
  type: problemType,
  body: redact(
    JSON.stringify({
      ...problemDocument(problem),
      detail: redactedSentence(problem, redact),
      action: redactedAction(problem, redact),
    }),
  ),
  headers: problemHeaders(problem),
})

const headersOf = ({ status, type, headers }: Answer, bytes: number): Record<string, string | number> => {
  const all: Record<string, string | number> = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  if (type !== undefined) all['content-type'] = type
  if (status !== 204) all['content-length'] = bytes
  return headers === undefined ? all : Object.assign(all, headers)
}

const lengthOf = (body: string | readonly Uint8Array[]): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, { length }) => sum + length, 0)

export const send = (request: IncomingMessage, response: ServerResponse, answer: Answer): void => {
  if (response.headersSent || response.destroyed || request.socket.destroyed) return
  const { status, body = '' } = answer
  response.writeHead(status, headersOf(answer, lengthOf(body)))
  if (request.method === 'HEAD') return void response.end()
  const rest = restOf(request)
  if (typeof body === 'string' && rest === undefined) return void response.end(body)
  for (const part of typeof body === 'string' ? [body] : body) response.write(part)
  if (rest === undefined) response.end()
  else void rest.then(() => response.end())
}

/** Answers on a connection whose request could not even be read, and closes it. */
export const sendRaw = (socket: Socket, problem: Problem): void => {
  const body = JSON.stringify(problemDocument(problem))
  const head = [
    `HTTP/1.1 ${problem.spec.status} ${STATUS_CODES[problem.spec.status] ?? ''}`,
    `content-type: ${problemType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
