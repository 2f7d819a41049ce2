/**
 * A Bot API on this machine that counts. It does what bots rely on of the real one: long polls with offsets, one poller
 * at a time, webhooks, files, messages; and it fails in every way that a test asks for.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClock } from '../../../core/base/clock.js'
import { readCall, type BotCall } from './bot-call.js'
import { createMethods, type Fields } from './bot-methods.js'

export type { BotCall } from './bot-call.js'

/** Answers a call in place of the server; `work` does what the method does and gives its result. */
export type Answerer = (asked: {
  readonly call: BotCall
  readonly response: ServerResponse
  /** How many calls of this method there were, this one too. */
  readonly count: number
  work(): Promise<Answered>
}) => void | Promise<void>

/** What a method answers. */
export interface Answered {
  readonly status: number
  readonly body: object
}

export interface StoredFile {
  readonly path: string
  readonly bytes: Uint8Array
  /** What `getFile` says of its size. */
  readonly size?: number
}

export interface BotApi {
  readonly port: number
  /** The `api_base_url` of it. */
  readonly base: string
  readonly calls: readonly BotCall[]
  of(method: string): BotCall[]
  /** Adds an update, which gets the next id unless it has one, and gives that. */
  push(update: Fields): number
  /** Updates that nobody has confirmed. */
  waiting(): number
  keep(file_id: string, file: StoredFile): void
  /** How calls of a method are answered from now on; `undefined` for what the server itself does. */
  on(method: string, answer: Answerer | undefined): void
  /** Resolves when it holds; looked at every 10 ms. */
  until(holds: () => boolean | Promise<boolean>, what: string): Promise<void>
  close(): Promise<void>
}

const clock = createClock()

const reply = (response: ServerResponse, { status, body }: Answered, headers: Record<string, string> = {}): void =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

/** A failure as the platform tells it. */
export const failing =
  (status: number, description: string, parameters?: object, headers?: Record<string, string>): Answerer =>
  ({ response }) =>
    reply(response, { status, body: { ok: false, error_code: status, description, parameters } }, headers)
/** Too many requests, with the hint where it is wished. */
export const flood = ({ header, body }: { header?: string; body?: number }): Answerer =>
  failing(
    429,
    `Too Many Requests: retry after ${body ?? header ?? '?'}`,
    body === undefined ? undefined : { retry_after: body },
    header === undefined ? undefined : { 'retry-after': header },
  )
/** An answer that is no JSON. */
export const garbage: Answerer = ({ response }) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('<html>no</html>')
/** Never answers. */
export const hanging: Answerer = () => {}
/** The connection ends before anything was done. */
export const cutting: Answerer = ({ response }) => void response.socket?.destroy()
/** It is done, and the connection ends before its answer: nobody but this server knows. */
export const doneAndCut: Answerer = async ({ response, work }) => {
  await work()
  response.socket?.destroy()
}
/** The first `count` calls so, the others as usual. */
export const first =
  (count: number, answer: Answerer): Answerer =>
  async (asked) => {
    if (asked.count <= count) return answer(asked)
    reply(asked.response, await asked.work())
  }

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

/** `tokens` are those that open it. */
export const startBotApi = async (tokens: readonly string[]): Promise<BotApi> => {
  const calls: BotCall[] = []
  const answers = new Map<string, Answerer>()
  const files = new Map<string, StoredFile>()
  const methods = createMethods({ tokens: new Set(tokens), files })
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = await readCall(request)
    calls.push(call)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const work = (): Promise<Answered> => methods.call(call, gone.signal)
    const answer = answers.get(call.method)
    const count = calls.filter(({ method }) => method === call.method).length
    if (answer !== undefined) return await answer({ call, response, count, work })
    if (call.method !== 'file') return reply(response, await work())
    const bytes = methods.download(call)
    if (bytes === undefined) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes)
  }
  const server = createServer((request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })
  const port = await listen(server)
  return {
    port,
    base: `http://127.0.0.1:${port}`,
    calls,
    of: (method) => calls.filter((call) => call.method === method),
    push: methods.push,
    waiting: methods.waiting,
    keep: (file_id, file) => void files.set(file_id, file),
    on: (method, answer) => void (answer === undefined ? answers.delete(method) : answers.set(method, answer)),
    async until(holds, what) {
      const deadline = clock.elapsed() + 30_000
      while (!(await holds())) {
        if (clock.elapsed() > deadline)
          throw new Error(`not reached: ${what}; called ${calls.map(({ method }) => method).join(' ')}`)
        await clock.sleep(10)
      }
    },
    close: () =>
      new Promise((resolve) => {
        methods.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
