/** An HTTP server that takes deliveries and counts them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'

export interface Received {
  readonly path: string
  readonly key: string
  readonly headers: IncomingMessage['headers']
  readonly body: any
}
/** Answers one request; without one the answer is 200. Not ending the response is a target that hangs. */
export type Answerer = (received: Received, response: ServerResponse, count: number) => void

export interface Receiver {
  readonly port: number
  readonly received: Received[]
  /** How requests to a path are answered from now on. */
  on(path: string, answer: Answerer): void
  at(path: string): Received[]
  /** The address of a reply handle for this receiver. */
  address(path: string, headers?: Record<string, string>): string
  /** Resolves when `holds` does; looked at after each request and every 20 ms. */
  until(holds: () => boolean | Promise<boolean>, what: string): Promise<void>
}

const clock = createClock()

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export const startReceiver = async (t: ExecutionContext<any>): Promise<Receiver> => {
  const received: Received[] = []
  const answers = new Map<string, Answerer>()
  const server = createServer((request, response) => {
    void readBody(request).then(
      (text) => {
        const path = request.url ?? ''
        const one: Received = {
          path,
          key: String(request.headers['idempotency-key']),
          headers: request.headers,
          body: JSON.parse(text),
        }
        received.push(one)
        const answer = answers.get(path)
        if (answer === undefined) response.end('ok')
        else answer(one, response, received.filter((other) => other.path === path).length)
      },
      () => undefined,
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const at = (path: string): Received[] => received.filter((one) => one.path === path)
  return {
    port,
    received,
    at,
    on: (path, answer) => void answers.set(path, answer),
    address: (path, headers) =>
      JSON.stringify({
        url: `http://127.0.0.1:${port}${path}`,
        ...(headers !== undefined && { headers }),
        allow_private_network: true,
      }),
    until: async (holds, what) => {
      const deadline = clock.elapsed() + 60_000
      while (!(await holds())) {
        if (clock.elapsed() > deadline)
          throw new Error(
            `not reached: ${what}; received ` +
              `${JSON.stringify(received.map(({ path, key, body }) => [path, key, body.content]))}`,
          )
        await clock.sleep(20)
      }
    },
  }
}

/** Answers with a status and headers. */
export const answering =
  (status: number, headers: Record<string, string> = {}): Answerer =>
  (_received, response) =>
    void response.writeHead(status, headers).end()
