/** Calls a daemon over HTTP. */
import type { Client } from '../plugin/command.js'
import { Problem } from '../base/errors.js'
import { parse } from '../base/parse.js'
import { array, integer, open, optional, string, type Json } from '../base/schema.js'
import { errors } from './errors.js'
import { DaemonProblem } from './daemon-problem.js'
import { verbatim } from './own-words.js'
import { readFrames } from './frames.js'

export interface ClientOptions {
  readonly baseUrl: string
  readonly token: string | undefined
  /** Ends every call. */
  readonly signal: AbortSignal
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

/** The daemon's problem, with all that it says. */
const problem = (body: Json, url: string): Problem => {
  const document = parse(ProblemDocument, body)
  if (!document.ok) return errors.answer_unreadable({ details: { url } })
  const { code, status = 500, detail, title, action, errors: fields } = document.value
  const spec = { status, detail: detail ?? title ?? code, ...(action !== undefined && { action }) }
  const occurrence = { details: verbatim(spec.detail), ...(fields !== undefined && { errors: fields }) }
  return new DaemonProblem(body, new Problem(code, spec, occurrence))
}

const json = (text: string, url: string): Json => {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    throw errors.answer_unreadable({ details: { url } })
  }
}

export const createClient = ({ baseUrl, token, signal: ended }: ClientOptions): Client => {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const url = new URL(path, baseUrl).href
    const answer = await fetch(url, { signal: ended, ...init, headers: { ...authorization, ...init.headers } }).catch(
      (cause: unknown) => {
        throw errors.daemon_unreachable({ details: { url: baseUrl }, cause })
      },
    )
    if (!answer.ok) throw problem(json(await answer.text(), url), url)
    return answer
  }
  const read = async (path: string, init: RequestInit): Promise<Json> =>
    json(await (await call(path, init)).text(), new URL(path, baseUrl).href)
  const send = (...[method, path, body, headers]: Send): Promise<Json> =>
    read(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    })
  const stream: Client['stream'] = async (path, signal) => {
    const { body } = await call(path, { signal, headers: { accept: 'text/event-stream' } })
    return readFrames(body ?? new ReadableStream(), signal)
  }
  return { baseUrl, get: (path) => read(path, {}), send, stream }
}
