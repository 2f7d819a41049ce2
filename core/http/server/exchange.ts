/** One request through its route: who calls, what is asked, the handler, durability, the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../../base/text/log.js'
import { fault } from '../../base/assert.js'
import { Problem } from '../../base/errors.js'
import { unsafeCast } from '../../base/schema.js'
import type { Auth } from '../access/auth.js'
import { httpErrors } from '../errors.js'
import { admitIngress } from '../access/ingress.js'
import { readIdempotencyKey, readInput, readPairs, readParams, readQuery, type Intake } from './input.js'
import { isGone, RequestInput } from './request-input.js'
import type { OriginPolicy } from '../access/origin.js'
import { problemAnswer, send, type Answer } from './reply.js'
import { sendBytes } from './bytes-answer.js'
import { committedValue, type BytesReply, type Route, type StreamReply, type SubjectCaller } from '../routes/route.js'
import type { Answered } from './http-metrics.js'
import { createListWriter, isLong, slicedItems, sliceItems, type ListWriter } from '../routes/sliced.js'
import { readCursor, type Streams } from './stream.js'
import type { Unsent } from './unsent.js'
import { allowed, type Found, type RouteTable } from '../routes/table.js'

export interface ExchangeOptions {
  readonly table: RouteTable
  readonly auth: Auth
  readonly origins: OriginPolicy
  readonly streams: Streams
  readonly unsent: Unsent
  readonly intake: Intake
  /**
   * Marks the begin of a request; what it returns resolves when all that was seen since is on disk, and rejects if some
   * of it was undone.
   */
  readonly watch: () => () => Promise<void>
  /** Why nothing may be served from the state; undefined while it may. */
  readonly unloaded: () => Problem | undefined
  /** Aborts when the daemon begins to stop: handlers that wait answer with what there is. */
  readonly leaving: AbortSignal
  readonly log: Log
  readonly redact: (text: string) => string
  readonly answered: Answered
  /** A handler threw something that is no problem. */
  readonly onFault: (fault: { readonly owner: string; readonly route: string; readonly error: unknown }) => void
}

export interface Exchange {
  /** Answers a request whose route is known or not. Never rejects. */
  serve(request: IncomingMessage, response: ServerResponse, found: Found | undefined): Promise<void>
  /** Answers with a problem. */
  refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void
}

export const createExchange = (options: ExchangeOptions): Exchange => {
  const { table, auth, origins, streams, unsent, intake, watch, leaving, log, redact, onFault, answered } = options
  const lists = createListWriter()

  const toProblem = (error: unknown, found: Found | undefined): Problem => {
    if (error instanceof Problem) return error
    const { owner = 'core', route } = found?.entry ?? {}
    log.error('request failed', { owner, route: route?.id, error })
    onFault({ owner, route: route?.id ?? 'none', error })
    return httpErrors.internal_error({ cause: error })
  }
  /** A problem that cannot be told is a fault of whoever threw it. */
  const told = (error: unknown, found: Found | undefined): Answer => {
    try {
      return problemAnswer(inDomain(toProblem(error, found), found?.entry.route), redact)
    } catch (worse) {
      return problemAnswer(inDomain(toProblem(worse, found), found?.entry.route), redact)
    }
  }
  const answer = (request: IncomingMessage, response: ServerResponse, reply: Answer): void => {
    const cors = origins.headers(request)
    // A client that keeps its connection would hold the stop until the drain is over.
    if (leaving.aborted) response.shouldKeepAlive = false
    send(request, response, cors === undefined ? reply : { ...reply, headers: { ...cors, ...reply.headers } })
    unsent.watch(response)
  }
  const refuse = (request: IncomingMessage, response: ServerResponse, error: unknown): void =>
    answer(request, response, told(error, undefined))

  const run = async (request: IncomingMessage, response: ServerResponse, found: Found | undefined): Promise<void> => {
    const caller = auth.admit(request, found?.entry.access ?? 'admin')
    if (found === undefined) throw noRoute(table, request)
    const { route } = found.entry
    const missing = route.withoutState === true ? undefined : options.unloaded()
    if (missing !== undefined) throw missing
    const { input, cursor } = await readAll(request, response, { found, caller, auth, leaving, intake })
    if (input === undefined) return
    const gone = (): boolean => isGone(response)
    const { reply } = route
    const before = reply.kind === 'stream' ? streams.newestId() : ''
    const handled = async (): Promise<unknown> => {
      try {
        const value = await route.handler(input)
        const items = slicedItems(value)
        return items === undefined ? value : await listed(lists, items, gone)
      } finally {
        input.release()
      }
    }
    const value = await settle(handled, watch())
    if (reply.kind === 'text')
      return answer(request, response, { status: reply.status, type: reply.type, body: String(value) })
    if (reply.kind === 'json')
      return answer(request, response, { status: reply.status, type: json, body: await format(lists, value, gone) })
    const headers = origins.headers(request) ?? {}
    if (reply.kind === 'bytes') {
      if (leaving.aborted) response.shouldKeepAlive = false
      const file = unsafeCast<BytesReply>(value)
      return sendBytes(request, response, { file, headers, watch: unsent.watch, gone })
    }
    if (leaving.aborted) throw httpErrors.daemon_draining({ retryAfter: 5 })
    const { access } = found.entry
    streams.open({ request, response, access, cursor, before, headers, ...unsafeCast<StreamReply>(value) })
  }
  return {
    async serve(request, response, found) {
      try {
        await run(request, response, found)
      } catch (error) {
        answer(request, response, told(error, found))
      }
      answered(found?.entry.route.id ?? 'none', response.statusCode)
      const { method } = request
      log.debug('request', { method, route: found?.entry.route.id ?? 'none', status: response.statusCode })
    },
    refuse,
  }
}

/** That there is no such path, or no such method of it. */
const noRoute = (table: ExchangeOptions['table'], { url = '', method = '' }: IncomingMessage): Problem => {
  const path = pathOf(url)
  const methods = table.methods(path)
  if (methods.length === 0) return httpErrors.route_not_found()
  const [other] = methods.map((one) => table.find(one, path))
  const problem = httpErrors.method_not_allowed({ details: { method }, headers: { allow: allowed(methods) } })
  return inDomain(problem, other?.entry.route)
}

/** Whatever went wrong, a route with a domain of its own tells it in that. */
const inDomain = (problem: Problem, route: Route | undefined): Problem =>
  route?.problemDomain === undefined
    ? problem
    : new Problem(problem.code, { ...problem.spec, domain: route.problemDomain }, problem.occurrence)

/** Waits until everything the handler may have seen is on disk, also when it refuses. */
const settle = async (work: () => Promise<unknown>, durable: () => Promise<void>): Promise<unknown> => {
  let own: unknown
  try {
    const value = await work()
    own = committedValue(value)
    return own ?? value
  } finally {
    if (own === undefined) await durable()
  }
}

interface Reading extends Pick<ExchangeOptions, 'auth' | 'leaving' | 'intake'> {
  readonly found: Found
  readonly caller: SubjectCaller<unknown>
}
interface Read {
  readonly input: RequestInput | undefined
  readonly cursor: bigint | undefined
}
const readAll = async (
  request: IncomingMessage,
  response: ServerResponse,
  { found, caller, auth, leaving, intake }: Reading,
): Promise<Read> => {
  const { route } = found.entry
  const params = readParams(found)
  const admitted = await admitIngress(request, route, { params, auth })
  const pairs = readPairs(searchOf(request.url ?? ''))
  const cursor = route.reply.kind === 'stream' ? takeCursor(request, pairs) : undefined
  const query = readQuery(route.query, pairs)
  const idempotencyKey = readIdempotencyKey(request, route)
  const read = await readInput(request, { route, verify: admitted?.verify }, intake)
  if (read === undefined) return { input: undefined, cursor }
  const input = new RequestInput({
    ...read,
    params,
    query,
    idempotencyKey,
    caller: admitted === undefined ? caller : { ...caller, subject: admitted.subject },
    response,
    leaving,
  })
  return { input, cursor }
}

const takeCursor = (request: IncomingMessage, pairs: Map<string, string>): bigint | undefined => {
  const query = pairs.get('cursor')
  pairs.delete('cursor')
  const header = request.headers['last-event-id']
  return readCursor(typeof header === 'string' ? header : undefined, query)
}

type Body = NonNullable<Answer['body']>

/** The text of a list that is made while it is written, as one thing with what the handler saw. */
const listed = async (lists: ListWriter, items: Iterable<unknown>, gone: () => boolean): Promise<Made> =>
  new Made(await lists.write({ before: '[', items, after: ']', most: sliceItems }, gone))
class Made {
  readonly body: Body
  constructor(body: Body) {
    this.body = body
  }
}

const json = 'application/json'
/** JSON; what may be long is waited for. */
const format = (lists: ListWriter, value: unknown, gone: () => boolean): Body | Promise<Body> => {
  if (value instanceof Made) return value.body
  if (Array.isArray(value)) return lists.write({ before: '[', items: value, after: ']' }, gone)
  if (isEnvelope(value)) {
    const { items, ...rest } = value
    const before = `${JSON.stringify(rest).slice(0, -1)},"items":[`
    return lists.write({ before, items, after: ']}' }, gone)
  }
  if (isLong(value)) return lists.writeValue(value, gone)
  const body = JSON.stringify(value)
  if (body === undefined) throw fault('a handler returned no value')
  return body
}
const isEnvelope = (value: unknown): value is { readonly items: readonly unknown[]; readonly pagination: object } =>
  typeof value === 'object' && value !== null && 'pagination' in value && 'items' in value && Array.isArray(value.items)

export const pathOf = (url: string): string => {
  const cut = url.indexOf('?')
  return cut === -1 ? url : url.slice(0, cut)
}
const searchOf = (url: string): string => {
  const cut = url.indexOf('?')
  return cut === -1 ? '' : url.slice(cut + 1)
}
