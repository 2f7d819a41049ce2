/** Calls a daemon over HTTP. */
import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Client } from '../plugin/command.js'
import { Problem } from '../base/errors.js'
import { parse } from '../base/parse.js'
import { array, integer, open, optional, string, unsafeCast, type Json } from '../base/schema.js'
import { retryAfter } from '../http/outbound/retry-after.js'
import { errors } from './told/errors.js'
import { DaemonProblem } from './told/daemon-problem.js'
import { verbatim } from './told/own-words.js'
import { readFrames } from './frames.js'

export interface ClientOptions {
  readonly baseUrl: string
  readonly token: string | undefined
  /** Ends every call. */
  readonly signal: AbortSignal
  /** Most bytes of an answer that is read. */
  readonly most?: number
}
type Send = Parameters<Client['send']>

const ProblemDocument = open({
  code: string(),
  status: optional(integer()),
  detail: optional(string()),
  title: optional(string()),
  action: optional(string()),
  errors: optional(array(open({ path: string(), rule: string() }))),
})

/** The daemon's problem, with all that it says; of something else that answers, its status as a member. */
const problem = (body: Json | undefined, { url, statusCode = 0, headers }: Answered): Problem => {
  const document = parse(ProblemDocument, body ?? null)
  if (!document.ok) return errors.answer_unreadable({ details: { url }, members: { status: statusCode } })
  const { code, status = 500, detail, title, action, errors: fields } = document.value
  const spec = { status, detail: detail ?? title ?? code, ...(action !== undefined && { action }) }
  const wait = retryAfter(headers['retry-after'], 0)
  const occurrence = {
    details: verbatim(spec.detail),
    ...(fields !== undefined && { errors: fields }),
    ...(wait !== undefined && { retryAfter: wait / 1000 }),
  }
  return new DaemonProblem(body ?? null, new Problem(code, spec, occurrence))
}

/** Undefined for what is no JSON. */
const json = (text: string): Json | undefined => {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return undefined
  }
}

const MiB = 1024 * 1024
/** Most bytes that are read: of an answer, as of a page of large records, and of a refusal. */
const [mostAnswer, mostRefusal] = [256 * MiB, MiB]

/** Undefined beyond the most: what it holds is not kept, and whoever sends it is left. */
const textOf = async (answer: IncomingMessage, most: number): Promise<string | undefined> => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of unsafeCast<AsyncIterable<Buffer>>(answer)) {
    bytes += piece.length
    if (bytes > most) return undefined
    pieces.push(piece)
  }
  return new TextDecoder().decode(Buffer.concat(pieces))
}

/** Who answered, and how. */
interface Answered extends Pick<IncomingMessage, 'statusCode' | 'headers'> {
  readonly url: string
}

interface Request {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Ends the request and its answer. */
  readonly signal: AbortSignal
}

/** A peer that is gone without a word is noticed by the system. */
const probeMs = 60_000

/**
 * Not by the `fetch` of Node, which gives up after five minutes without a header or a byte: a backup of a large root
 * takes longer, and a person can interrupt it.
 */
const exchange = async (url: URL, { body, ...options }: Request): Promise<IncomingMessage> => {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, agent: false }, resolve)
    // Of a DELETE it is not told otherwise.
    if (body !== undefined) sent.setHeader('content-length', Buffer.byteLength(body))
    sent.on('error', reject)
    sent.setSocketKeepAlive(true, probeMs)
    sent.end(body)
  })
}

type Call = Partial<Request>

/** Dots alone would be a step on the way of the path, and not the name of a thing in it. */
const steps = /\/(?:\.|%2e){1,2}(?=[/?]|$)/iu

export const createClient = ({ baseUrl, token, signal: ended, most = mostAnswer }: ClientOptions): Client => {
  // However many calls there are, one signal ends them.
  setMaxListeners(0, ended)
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const unreachable = (cause: unknown): never => {
    throw errors.daemon_unreachable({ details: { url: baseUrl }, cause })
  }
  const call = async (path: string, given: Call): Promise<IncomingMessage> => {
    if (steps.test(path)) throw errors.id_refused()
    const url = new URL(path, baseUrl)
    const headers = { ...authorization, ...given.headers }
    const answer = await exchange(url, { method: 'GET', signal: ended, ...given, headers }).catch(unreachable)
    const { statusCode = 0 } = answer
    if (statusCode < 200 || statusCode > 299)
      throw problem(await jsonOf(answer, Math.min(most, mostRefusal)), { ...answered(answer), url: url.href })
    return answer
  }
  const answered = ({ statusCode, headers }: IncomingMessage) => ({ statusCode, headers })
  const jsonOf = async (answer: IncomingMessage, bytes: number): Promise<Json | undefined> => {
    const text = await textOf(answer, bytes).catch(unreachable)
    return text === undefined ? undefined : json(text)
  }
  const read = async (path: string, given: Call): Promise<Json> => {
    const answer = await call(path, given)
    const url = new URL(path, baseUrl).href
    const body = await jsonOf(answer, most)
    if (body === undefined)
      throw errors.answer_unreadable({ details: { url }, members: { status: answer.statusCode ?? 0 } })
    return body
  }
  const send = (...[method, path, body, headers]: Send): Promise<Json> =>
    read(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    })
  const stream: Client['stream'] = async (path, signal) =>
    readFrames(await call(path, { signal, headers: { accept: 'text/event-stream' } }), signal)
  const options: Client['options'] = async (path, headers) => {
    const answer = await call(path, { method: 'OPTIONS', headers })
    answer.resume()
    return Object.fromEntries(
      Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    )
  }
  const bytes: Client['bytes'] = async (path) => buffer(await call(path, {})).catch(unreachable)
  return { baseUrl, get: (path) => read(path, {}), options, bytes, send, stream }
}
