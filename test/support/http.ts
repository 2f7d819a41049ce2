/** A server on port 0 with the routes a test gives it. */
import type { ExecutionContext } from 'ava'
import { request as nodeRequest } from 'node:http'
import { connect } from 'node:net'
import { createClock } from '../../core/base/clock.js'
import { createBus, type Bus, type EventFault } from '../../core/events/bus.js'
import { createAuth, type AuthOptions, type AuthRecord } from '../../core/http/access/auth.js'
import { createUnready } from '../../core/http/access/unready.js'
import { defineRoute, streamReply, type Route } from '../../core/http/routes/route.js'
import { object, optional, string } from '../../core/base/schema.js'
import { createServer, type HttpServer, type ServerOptions } from '../../core/http/server/server.js'
import { createRouteTable } from '../../core/http/routes/table.js'
import type { Log } from '../../core/base/text/log.js'
import { parseJson } from './json.js'

/** The stream of all events, or of one session. */
export const streamRoute = defineRoute({
  id: 'events.stream',
  method: 'GET',
  path: '/v1/events/stream',
  summary: 'All events.',
  access: 'read',
  query: object({ session_id: optional(string()) }),
  reply: streamReply(),
  handler: ({ query }) =>
    query.session_id === undefined ? {} : { filter: { scope: 'session', id: query.session_id } },
})

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly body: any
}
export interface TestServer {
  readonly port: number
  readonly url: string
  readonly server: HttpServer
  readonly bus: Bus
  readonly faults: { readonly owner: string; readonly route: string; readonly error: unknown }[]
  readonly eventFaults: EventFault[]
  readonly audit: AuthRecord[]
  readonly lines: string[]
  ask(method: string, path: string, more?: { body?: unknown; headers?: Record<string, string> }): Promise<Reply>
  /**
   * Sends text on a bare socket; resolves with all that came back when the other side closes, after `quietMs` of
   * silence, or `patienceMs` without a first byte.
   */
  raw(text: string | Uint8Array, quietMs?: number, patienceMs?: number): Promise<string>
}

export interface TestServerOptions {
  readonly routes?: readonly Route[]
  readonly auth?: Partial<AuthOptions>
  readonly server?: Partial<ServerOptions>
  readonly capacity?: number
  readonly epoch?: number
}

export const startServer = async (t: ExecutionContext<any>, options: TestServerOptions = {}): Promise<TestServer> => {
  const clock = createClock()
  const [faults, eventFaults, audit, lines]: [TestServer['faults'], EventFault[], AuthRecord[], string[]] = [
    [],
    [],
    [],
    [],
  ]
  const write = (fact: string): void => void lines.push(fact)
  const log: Log = { debug: write, info: write, warn: write, error: write }
  const bus = createBus({
    clock,
    epoch: options.epoch ?? 1000,
    capacity: options.capacity ?? 2048,
    onFault: (fault) => eventFaults.push(fault),
  })
  const routes = createRouteTable()
  for (const route of options.routes ?? []) routes.add('test', route)
  const auth = createAuth({
    mode: 'auto',
    clock,
    audit: (record) => audit.push(record),
    unready: createUnready(clock, log),
    readFile: () => undefined,
    ...options.auth,
  })
  const server = createServer({
    routes,
    auth,
    bus,
    log,
    clock,
    watch: () => () => Promise.resolve(),
    onFault: (fault) => faults.push(fault),
    version: '0.0.0',
    ...options.server,
  })
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    server,
    bus,
    faults,
    eventFaults,
    audit,
    lines,
    ask: (method, path, more = {}) => ask({ port, method, path, ...more }),
    raw: (text, quietMs = 300, patienceMs = 5000) => raw({ port, text, quietMs, patienceMs }),
  }
}

interface Asked {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}
const ask = ({ port, method, path, body, headers = {} }: Asked): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const payload =
      body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const type =
      payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }
    const outgoing = nodeRequest({ port, method, path, headers: { ...type, ...headers }, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        const got = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
        resolve({
          status: incoming.statusCode ?? 0,
          headers: got,
          text,
          body: /json/u.test(got['content-type'] ?? '') && text !== '' ? parseJson(text) : undefined,
        })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(payload)
  })

const raw = ({
  port,
  text,
  quietMs,
  patienceMs,
}: {
  port: number
  text: string | Uint8Array
  quietMs: number
  patienceMs: number
}): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let got = ''
    let cancel = (): void => {}
    const finish = (): void => {
      cancel()
      socket.destroy()
      resolve(got)
    }
    const arm = (ms: number): void => {
      cancel()
      cancel = createClock().after(ms, finish)
    }
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      arm(quietMs)
    })
    socket.on('error', finish)
    socket.on('close', finish)
    socket.on('connect', () => {
      socket.write(text)
      arm(patienceMs)
    })
  })
