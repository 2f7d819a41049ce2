/** A sidecar in the process of a test, which does as it is told: it can also lie, hang, cut, redirect and say too much. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'

export interface AskedOfSidecar {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: any
}
type Answerer = (asked: AskedOfSidecar, response: ServerResponse) => void

export interface Sidecar {
  readonly url: string
  readonly port: number
  /** What it was asked, in order. */
  readonly asked: AskedOfSidecar[]
  at(path: string): AskedOfSidecar[]
  /** What its manifest and its health say of it from now on. */
  manifest: Record<string, unknown>
  health: Record<string, unknown>
  /** How requests to a path are answered from now on; undefined as a sidecar does. */
  on(path: string, answer: Answerer | undefined): void
  /** Resolves when `holds` does. */
  until(holds: () => boolean, what: string): Promise<void>
}

/** An answer of this status and text, or JSON. */
export const saying =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answerer =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
/** Nothing is ever answered. */
export const hanging: Answerer = () => {}
/** The connection ends in the middle of the answer. */
export const cutting: Answerer = (_, response) => {
  response.writeHead(200, { 'content-length': '100' })
  response.write('{"status":')
  response.socket?.destroy()
}

const clock = createClock()
const mostMs = 20_000

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return text === '' ? undefined : JSON.parse(text)
}

export const startSidecar = async (t: ExecutionContext<any>): Promise<Sidecar> => {
  const asked: AskedOfSidecar[] = []
  const answers = new Map<string, Answerer>()
  const usual = (path: string): unknown => {
    if (path === '/manifest') return sidecar.manifest
    return path === '/health' ? sidecar.health : { status: 'committed' }
  }
  const server = createServer((request, response) => {
    readBody(request).then(
      (body) => {
        const { url: path = '', method = '', headers } = request
        const one = { method, path, headers, body }
        asked.push(one)
        const answer = answers.get(path) ?? saying(200, usual(path))
        answer(one, response)
      },
      () => undefined,
    )
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const sidecar: Sidecar = {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    at: (path) => asked.filter((one) => one.path === path),
    manifest: { protocol_version: 1, instance_id: 'sidecar-1' },
    health: { protocol_version: 1, instance_id: 'sidecar-1', status: 'ready' },
    on(path, answer) {
      if (answer === undefined) answers.delete(path)
      else answers.set(path, answer)
    },
    async until(holds, what) {
      const deadline = clock.elapsed() + mostMs
      while (!holds()) {
        if (clock.elapsed() > deadline) throw new Error(`${what} did not come`)
        await clock.sleep(5)
      }
    },
  }
  return sidecar
}
