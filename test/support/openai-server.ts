/** A server on a port of its own that speaks the chat-completions protocol as it is told, over real sockets. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../core/plugin.js'

/** One piece of a stream: raw text, or an object sent as one `data:` event. */
export type Chunk = string | JsonObject

export interface StreamReply {
  readonly type: 'stream'
  readonly chunks: readonly Chunk[]
  /** Milliseconds before each chunk. */
  readonly pace_ms?: number
  /** Bytes per write; absent: one write per chunk. */
  readonly drip_bytes?: number
  /** Ends the stream after so many bytes, with a proper end or a broken socket. */
  readonly cut?: { readonly bytes: number; readonly how: 'end' | 'destroy' }
  /** Never ends the answer. */
  readonly keep_open?: boolean
  readonly content_type?: string
  readonly headers?: Readonly<Record<string, string>>
}
export interface StatusReply {
  readonly type: 'status'
  readonly status: number
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}
/** Says nothing at all, or headers and then nothing. */
export interface SilentReply {
  readonly type: 'silence'
  readonly headers: boolean
}
export interface BrokenReply {
  readonly type: 'broken'
}
export type Reply = StreamReply | StatusReply | SilentReply | BrokenReply

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: JsonObject
  /** Number of this request, from 1. */
  readonly number: number
  /** Resolves when the answer's connection is done: true if the client went away before the end. */
  readonly gone: Promise<boolean>
}

export type Respond = (asked: Asked) => Reply | Promise<Reply>

export interface OpenAiServer {
  /** Ends in `/v1`. */
  readonly url: string
  readonly asked: readonly Asked[]
  /** Replaces what is answered from now on. */
  answer(respond: Respond): void
  /** Answers that have not ended yet, from either side. */
  open(): number
  /** Sockets that are open now. */
  sockets(): Promise<number>
  close(): Promise<void>
}

/** `listed` are the models that it says it has. */
export const startOpenAiServer = async (
  first: Respond,
  listed: readonly string[] = ['test-model'],
): Promise<OpenAiServer> => {
  const asked: Asked[] = []
  let respond: Respond = first
  let open = 0
  const server = createServer((request, response) => void serve(request, response))
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'GET') return void response.end(JSON.stringify({ data: listed.map((id) => ({ id })) }))
    open += 1
    const gone = new Promise<boolean>((resolve) =>
      response.on('close', () => {
        open -= 1
        resolve(!response.writableFinished)
      }),
    )
    const one: Asked = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(await bodyOf(request)),
      number: asked.length + 1,
      gone,
    }
    asked.push(one)
    await send(await respond(one), response)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${portOf(server.address())}/v1`,
    asked,
    answer: (next) => void (respond = next),
    open: () => open,
    sockets: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces).toString()
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const send = async (reply: Reply, response: ServerResponse): Promise<void> => {
  switch (reply.type) {
    case 'status':
      return void response
        .writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
        .end(reply.body ?? '')
    case 'silence':
      return reply.headers ? response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders() : undefined
    case 'broken':
      return void response.socket?.destroy()
    case 'stream':
      return sendStream(reply, response)
  }
}

/** The bytes of a stream, for tests that cut it anywhere. */
export const bytesOf = (chunks: readonly Chunk[]): Buffer =>
  Buffer.concat(
    chunks.map((chunk) => Buffer.from(typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`)),
  )

const sendStream = async (reply: StreamReply, response: ServerResponse): Promise<void> => {
  response
    .writeHead(200, { 'content-type': reply.content_type ?? 'text/event-stream', ...reply.headers })
    .flushHeaders()
  for (const piece of pieces(reply)) {
    if (reply.pace_ms !== undefined) await pause(reply.pace_ms)
    if (response.destroyed) return
    await new Promise<void>((resolve) => response.write(piece, () => resolve()))
  }
  if (reply.cut?.how === 'destroy') return void response.socket?.destroy()
  if (reply.keep_open !== true) response.end()
}

const pieces = ({ chunks, cut, drip_bytes }: StreamReply): Buffer[] => {
  if (cut !== undefined) return cut.bytes === 0 ? [] : [bytesOf(chunks).subarray(0, cut.bytes)]
  if (drip_bytes === undefined) return chunks.map((chunk) => bytesOf([chunk]))
  const whole = bytesOf(chunks)
  return Array.from({ length: Math.ceil(whole.length / drip_bytes) }, (_, n) =>
    whole.subarray(n * drip_bytes, (n + 1) * drip_bytes),
  )
}

/** One event of a completion. */
export const chunk = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'test-model',
  choices: [{ index: 0, delta, finish_reason }],
})

export const usageChunk = (
  usage: JsonObject = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'test-model',
  choices: [],
  usage,
})

export const doneEvent = 'data: [DONE]\n\n'

export const stream = (...chunks: Chunk[]): StreamReply => ({ type: 'stream', chunks })

/** A text as OpenAI streams it. */
export const saying = (...words: string[]): StreamReply =>
  stream(
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    usageChunk(),
    doneEvent,
  )

export interface WireCall {
  readonly id: string
  readonly name: string
  readonly input: string
}

/** Parallel tool calls as OpenAI streams them: a head, then pieces of the input. */
export const calling = (...calls: WireCall[]): StreamReply =>
  stream(
    chunk({ role: 'assistant', content: null }),
    ...calls.flatMap(callChunks),
    chunk({}, 'tool_calls'),
    usageChunk(),
    doneEvent,
  )

const callChunks = ({ id, name, input }: WireCall, index: number): JsonObject[] => [
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
  ...(input.match(/.{1,5}/gsu) ?? []).map((piece) =>
    chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
  ),
]

/** Answers one after the other; the last one for ever. */
export const inTurn = (...replies: readonly Reply[]): ((asked: Asked) => Reply) => {
  let next = 0
  return () => replies[Math.min(next++, replies.length - 1)] ?? { type: 'broken' }
}
