/** Answers over HTTP as they are passed on: bounded, and without what is no message. */
import { fault, isJsonObject, unsafeCast, type Json } from '../../../../core/plugin.js'
import { passingEvents, type EventStreamParts } from './event-stream.js'
import { messageIn, mostBytes, readJson } from './message.js'

/** The number of a request that is posted; undefined for what is no request. */
export const requestId = (body: unknown): number | undefined => {
  const sent = typeof body === 'string' ? readJson(body) : undefined
  const id = isJsonObject(sent) && typeof sent['method'] === 'string' ? sent['id'] : undefined
  return typeof id === 'number' ? id : undefined
}

const wholeOf = async (body: ReadableStream<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > mostBytes) throw fault('it sent a message of more than 16 MiB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Throws if the result of the request is not among what came. */
const messagesText = (text: string, id: number): string => {
  const value = readJson(text)
  const values = Array.isArray(value) ? unsafeCast<readonly Json[]>(value) : [value]
  const list = values.map(messageIn).filter((message) => message !== undefined)
  if (!list.some((message) => message['id'] === id && message['method'] === undefined))
    throw fault('it answered with something else than the result')
  return JSON.stringify(list.length === 1 ? list[0] : list)
}

const typeOf = ({ headers }: Response): string | undefined =>
  headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()

/** Rejects if a request that was posted has no answer in it. */
export const passingAnswer = async (
  answer: Response,
  id: number | undefined,
  parts: EventStreamParts,
): Promise<Response> => {
  const { status, headers, body, ok } = answer
  if (id !== undefined && (status === 202 || (ok && body === null))) {
    await body?.cancel()
    throw fault('it took the request and did not answer it')
  }
  if (body === null) return answer
  const type = typeOf(answer)
  if (ok && type === 'text/event-stream') return new Response(passingEvents(body, parts), { status, headers })
  if (ok && id !== undefined && type !== 'application/json') {
    await body.cancel()
    throw fault(`it answered with ${type ?? 'nothing that has a type'}, as no MCP server does: see url of its table`)
  }
  const whole = await wholeOf(body)
  const text = ok && id !== undefined ? messagesText(whole, id) : whole
  return new Response(text, { status, headers })
}
