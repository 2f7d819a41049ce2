/** Calls a daemon over HTTP. */
import type { Client } from '../command.js'
import { Problem } from '../errors.js'
import { open, optional, parse, string, type Json } from '../schema.js'
import { errors } from './errors.js'
import { readFrames } from './frames.js'

export interface ClientOptions {
  readonly baseUrl: string
  readonly token: string | undefined
}
type Send = Parameters<Client['send']>

const ProblemDocument = open({ code: string(), detail: optional(string()), title: optional(string()) })

const problem = (body: Json, url: string): Problem => {
  const document = parse(ProblemDocument, body)
  if (!document.ok) return errors.answer_unreadable({ details: { url } })
  const { code, detail, title } = document.value
  const sentence = detail ?? title ?? code
  return new Problem(code, errors.problem.spec, { details: { detail: sentence } })
}

const json = (text: string, url: string): Json => {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    throw errors.answer_unreadable({ details: { url } })
  }
}

export const createClient = ({ baseUrl, token }: ClientOptions): Client => {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const call = async (path: string, init: RequestInit): Promise<Response> => {
    const url = new URL(path, baseUrl).href
    const answer = await fetch(url, { ...init, headers: { ...authorization, ...init.headers } }).catch(
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
  async function* stream(path: string, signal: AbortSignal): ReturnType<Client['stream']> {
    const { body } = await call(path, { signal, headers: { accept: 'text/event-stream' } })
    if (body !== null) yield* readFrames(body, signal)
  }
  return { baseUrl, get: (path) => read(path, {}), send, stream }
}
