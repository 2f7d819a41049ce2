/** The HTTP server: node:http carries the connection, polka the request, the route table finds the route. */
import { setMaxListeners } from 'node:events'
import { createServer as createNodeServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import polka from 'polka'
import type { Clock } from '../../base/clock.js'
import type { Problem, ProblemFactory } from '../../base/errors.js'
import type { Bus } from '../../events/bus.js'
import type { Log } from '../../base/text/log.js'
import type { Metric } from '../../metrics/contract.js'
import { gauges } from '../../metrics/instruments.js'
import { createAdmission, hostName } from '../access/admit.js'
import type { Auth } from '../access/auth.js'
import { httpErrors } from '../errors.js'
import { bind } from './bind.js'
import { createBodyBudget, type BodyLimits } from './body-budget.js'
import { createExchange, type Exchange, pathOf } from './exchange.js'
import { createJsonReader, type JsonReader } from './json-reader.js'
import { createHttpMetrics } from './http-metrics.js'
import { createInFlight, type InFlight } from './in-flight.js'
import { answerMalformed } from './malformed.js'
import { createOpenapi } from '../openapi/openapi.js'
import { createOriginPolicy, type OriginPolicy } from '../access/origin.js'
import { createOwnRoutes, type Readiness } from './own-routes.js'
import { send } from './reply.js'
import { unsafeCast } from '../../base/schema.js'
import { createStreams, type Streams } from './stream.js'
import { allowed, type RouteTable } from '../routes/table.js'
import { createUnsent, type UnsentLimits } from './unsent.js'

export interface ServerLimits extends UnsentLimits, BodyLimits {
  /** Ms until the headers of a request must be there. */
  readonly headersTimeout: number
  /** Ms until a whole request must be there. */
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  /** Ms between looks at slow connections. */
  readonly checkInterval: number
  readonly maxConnections: number
}
const defaults: ServerLimits = {
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 65_000,
  checkInterval: 5_000,
  maxConnections: 16_384,
  writeTimeout: 60_000,
  unsentBytes: 134_217_728,
  bodyBytes: 134_217_728,
  bodyWait: 10_000,
  bodyStall: 10_000,
}

export interface StorageRefusals {
  /** Nothing may be served from the state. */
  readonly reads?: Problem | undefined
  readonly changes?: Problem | undefined
}

export interface ServerOptions {
  readonly routes: RouteTable
  readonly auth: Auth
  readonly bus: Bus
  /**
   * Marks the begin of a request; what it returns resolves when all that was seen since is on disk, and rejects if some
   * of it was undone.
   */
  readonly watch: () => () => Promise<void>
  readonly log: Log
  readonly clock: Clock
  /** A handler threw something that is no problem: whose route it is. */
  readonly onFault: (fault: { readonly owner: string; readonly route: string; readonly error: unknown }) => void
  readonly version: string
  /** Problems that any route may answer with, such as those of the store; for the OpenAPI document. */
  readonly problems?: readonly ProblemFactory[]
  /** Names beside loopback and the bound host that a Host header may carry. */
  readonly allowedHosts?: readonly string[]
  /** Loopback origins that may call; any loopback origin when empty. */
  readonly corsOrigins?: readonly string[]
  readonly ready?: () => Readiness
  /** Why storage serves no reads or takes no changes; neither while all is well. */
  readonly storage?: () => StorageRefusals
  readonly redact?: (text: string) => string
  readonly limits?: Partial<ServerLimits>
}

export interface HttpServer {
  listen(at: { readonly host: string; readonly port: number }): Promise<{ readonly port: number }>
  /**
   * Refuses new requests, lets those in flight finish, ends event streams; what is left after `ms` is cut. Probes are
   * answered until `close`, so that they see a daemon that stops and not one that is gone.
   */
  drain(ms: number): Promise<void>
  /** Cuts everything at once and listens no more. */
  close(): Promise<void>
  /** Connections that are open now. */
  connections(): Promise<number>
  /** Bytes that clients have asked for and not taken yet. */
  readonly unsentBytes: number
  /** Bytes of request bodies in flight. */
  readonly bodyBytes: number
  readonly cors: { readonly kind: 'loopback' | 'exact'; readonly size: number }
  readonly metrics: readonly Metric[]
}

interface Serving {
  readonly options: ServerOptions
  readonly server: Server
  readonly origins: OriginPolicy
  readonly streams: Streams
  readonly exchange: Exchange
  readonly inFlight: InFlight
  readonly json: JsonReader
  /** Aborts when the server begins to drain. */
  readonly leaving: AbortController
  /** Names that a Host header may carry. */
  readonly hosts: string[]
  draining: boolean
}

export const createServer = (options: ServerOptions): HttpServer => {
  const { routes: table, auth, bus, log, clock, onFault, watch, redact = (text) => text } = options
  const limits = { ...defaults, ...options.limits }
  const origins = createOriginPolicy(options.corsOrigins)
  const unsent = createUnsent(limits)
  const streams = createStreams({ bus, clock, unsent, review: auth.review })
  const leaving = new AbortController()
  setMaxListeners(0, leaving.signal)
  const budget = createBodyBudget({ clock, ...limits })
  const json = createJsonReader()
  const unloaded = (): Problem | undefined => options.storage?.().reads
  const http = createHttpMetrics()
  const exchange = createExchange({
    table,
    auth,
    origins,
    streams,
    unsent,
    intake: { clock, budget, json, stall: limits.bodyStall },
    watch,
    unloaded,
    leaving: leaving.signal,
    log,
    redact,
    onFault,
    answered: http.answered,
  })
  const server = createNode(limits)
  const hosts = (options.allowedHosts ?? []).map((name) => name.toLowerCase())
  const inFlight = createInFlight(server, clock)
  const serving = { options, server, origins, streams, exchange, inFlight, json, leaving, hosts, draining: false }
  addOwnRoutes(serving)
  answerRequests(serving)
  answerMalformed(server, exchange, clock)
  return {
    cors: origins,
    metrics: [...http.metrics, ...loadMetrics(() => [unsent.bytes, budget.bytes])],
    connections: () => countConnections(server),
    get unsentBytes() {
      return unsent.bytes
    },
    get bodyBytes() {
      return budget.bytes
    },
    listen: (place) => listen(serving, place),
    drain: (ms) => drain(serving, ms),
    close: () => close(serving),
  }
}

const loadMetrics = (load: () => readonly [unsent: number, bodies: number]): readonly Metric[] =>
  gauges(
    ['service_http_unsent_bytes', 'Bytes that clients have asked for and not taken yet.', () => load()[0]],
    ['service_http_body_bytes', 'Bytes of request bodies in flight.', () => load()[1]],
  )

const addOwnRoutes = (serving: Serving): void => {
  const { routes: table, version, problems = [] } = serving.options
  const document = createOpenapi({ table, version, problems })
  for (const route of createOwnRoutes({ readiness: () => readiness(serving), document })) table.add('core', route)
}

const readiness = ({ options, draining }: Serving): Readiness => {
  if (draining) return httpErrors.daemon_draining({ retryAfter: 5 })
  const { reads, changes } = options.storage?.() ?? {}
  const ready = options.ready?.() ?? 'ready'
  return ready === 'ready' ? (reads ?? changes ?? ready) : ready
}

const answerRequests = (serving: Serving): void => {
  const { server, origins, exchange, inFlight, hosts } = serving
  const { auth, routes } = serving.options
  const admit = createAdmission(() => hosts)
  const forward = createApp({ server, routes, exchange })
  server.on('request', (request, response) => {
    try {
      admit(request)
      if (serving.draining) refuseLate(request, response)
      else inFlight.track(response)
      if (!origins.admits(request)) throw auth.refuseOrigin(request)
      if (request.method === 'OPTIONS') answerOptions(request, response, { origins, routes })
      else forward(request, response)
    } catch (error) {
      exchange.refuse(request, response, error)
    }
  })
}

const countConnections = (server: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  )

const listen = async (
  { server, hosts, options: { log } }: Serving,
  at: { readonly host: string; readonly port: number },
): Promise<{ readonly port: number }> => {
  const name = hostName(at.host.includes(':') ? `[${at.host}]` : at.host)
  if (name !== undefined) hosts.push(name)
  const port = await bind(server, at, (error) => log.warn('a connection could not be taken', { error }))
  return { port }
}

const drain = async (serving: Serving, ms: number): Promise<void> => {
  serving.draining = true
  serving.leaving.abort()
  serving.streams.endAll()
  if (!(await serving.inFlight.drained(ms))) serving.server.closeAllConnections()
}

const close = async (serving: Serving): Promise<void> => {
  serving.draining = true
  const closed = new Promise<void>((resolve) => serving.server.close(() => resolve()))
  serving.server.closeAllConnections()
  await Promise.all([closed, serving.json.close()])
}

const createNode = (limits: ServerLimits): Server => {
  const server = createNodeServer({
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.checkInterval,
    requireHostHeader: false,
    maxHeaderSize: 16_384,
    noDelay: true,
    keepAlive: true,
  })
  server.maxConnections = limits.maxConnections
  // Surplus headers would be dropped in silence; they are counted and refused instead.
  server.maxHeadersCount = 0
  // Without it, node drops the answers of a client that sends the end of its stream behind its request.
  return Object.assign(server, { httpAllowHalfOpen: true })
}

const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/** While the daemon stops, each answer is the last on its connection, and only probes are served. */
const refuseLate = ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
  response.shouldKeepAlive = false
  if (!probes.has(pathOf(url))) throw httpErrors.daemon_draining({ retryAfter: 5 })
}

type Forward = (request: IncomingMessage, response: ServerResponse) => void

/** polka with our route table: it carries the request and never sees an error. */
const createApp = ({
  server,
  routes,
  exchange,
}: {
  server: Server
  routes: RouteTable
  exchange: Exchange
}): Forward => {
  const app = polka({
    server,
    onNoMatch: (request, response) => exchange.serve(request, response, undefined),
    onError: (error, request, response) => exchange.refuse(request, response, error),
  })
  app.find = (method, path) => {
    const found = routes.find(method, path)
    return {
      params: {},
      handlers: found === undefined ? [] : [(request, response) => exchange.serve(request, response, found)],
    }
  }
  return unsafeCast<Forward>(app.handler)
}

/** Of a path that is not there only a browser's preflight is answered: it asks about the origin. */
const answerOptions = (
  request: IncomingMessage,
  response: ServerResponse,
  { origins, routes }: { origins: OriginPolicy; routes: RouteTable },
): void => {
  const methods = routes.methods(pathOf(request.url ?? ''))
  if (methods.length === 0 && request.headers['access-control-request-method'] === undefined)
    throw httpErrors.route_not_found()
  send(request, response, { status: 204, headers: { allow: allowed(methods), ...origins.headers(request) } })
}
