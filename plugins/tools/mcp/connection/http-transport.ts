/** The transport of servers that are asked over HTTP, through the daemon's own client. */
import { createFetch, fault, type Clock, type Outbound } from '../../../../core/plugin.js'
import type { Authorization } from '../config/authorization.js'
import type { HttpEntry } from '../config/entry.js'
import { checkRefusal } from './http-refusal.js'
import { passingAnswer, requestId } from './http-answer.js'
import type { JsonRpcMessage, Kit, Transport } from './kit.js'
import { createTooMuch, tooMuchText } from './message.js'
import { createPace } from './pace.js'
import { createReopening } from './reopening.js'

export interface HttpTransportParts {
  readonly kit: Kit
  readonly clock: Clock
  readonly outbound: Outbound
  /** Of the server on the list. */
  readonly name: string
  readonly entry: HttpEntry
  /** Those of now: they may change while it is connected. */
  readonly timeouts: () => Pick<HttpEntry, 'startup_timeout_sec' | 'tool_timeout_sec'>
  /** Asked for each request; rejects with a problem if a value is missing. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  readonly authorization: Authorization | undefined
  /** Told why the connection ends, before it does. */
  readonly onEnd: (reason: string) => void
  /** Told of an event that is no message. */
  readonly onGarbage: () => void
}

type SendOptions = Parameters<Transport['send']>[1]

/** A request whose answer ends without a result fails then, and not when its time is over. */
const withEnds = (transport: Transport): Transport => {
  const send = transport.send.bind(transport)
  transport.send = (message: JsonRpcMessage, options?: SendOptions) => {
    if (!('method' in message && 'id' in message)) return send(message, options)
    return new Promise<void>((_, reject) => {
      const onRequestStreamEnd = (): void => reject(fault('its answer ended before the result'))
      send(message, Object.assign({}, options, { onRequestStreamEnd })).catch(reject)
    })
  }
  return transport
}

export const createHttpTransport = (parts: HttpTransportParts): Transport => {
  const { kit, clock, outbound, entry, timeouts, headers, authorization, onEnd, onGarbage } = parts
  const { allow_private_network, allow_cidrs } = entry
  const send: ReturnType<typeof createFetch> = (url, init) => {
    const { startup_timeout_sec, tool_timeout_sec } = timeouts()
    const timeout_ms = Math.max(startup_timeout_sec, tool_timeout_sec) * 1_000
    return createFetch(outbound, { allow_private_network, allow_cidrs, timeout_ms })(url, init)
  }
  const [pace, isTooMuch, reopening] = [createPace(clock), createTooMuch(clock), createReopening(clock)]
  const end = (reason: string): true => {
    onEnd(reason)
    void transport.close()
    return true
  }
  const stream = (isAnswer: boolean) => ({
    ...reopening.watch(isAnswer),
    visit: pace.visit(),
    onGarbage: () => {
      onGarbage()
      return isTooMuch() && end(tooMuchText)
    },
    onFlood: () => void end('it sends more than can be read'),
  })
  const sendWith = async (token: string | undefined, url: string | URL, init?: RequestInit): Promise<Response> => {
    const all = new Headers(init?.headers)
    for (const [name, value] of Object.entries(await headers())) all.set(name, value)
    if (token !== undefined) all.set('authorization', `Bearer ${token}`)
    const isAnswer = init?.method !== 'GET' || (await reopening.ask(all.get('last-event-id'), init.signal ?? undefined))
    return passingAnswer(await send(url, { ...init, headers: all }), requestId(init?.body), stream(isAnswer))
  }
  // Not with the package's own provider, which does not say which token was refused: among many requests at a time
  // all but the first one would be refused with a token that was renewed already.
  const answerOf = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const token = await authorization?.token()
    const response = await sendWith(token, url, init)
    if (authorization === undefined || token === undefined) return response
    if (response.status === 403) authorization.forbidden(kit.extractWWWAuthenticateParams(response))
    if (response.status !== 401) return response
    await response.body?.cancel()
    await authorization.refused(token)
    return sendWith(await authorization.token(), url, init)
  }
  const transport: Transport = new kit.StreamableHTTPClientTransport(new URL(entry.url), {
    fetch: async (url, init) => {
      const answer = await answerOf(url, init)
      if (requestId(init?.body) !== undefined) await checkRefusal(answer, parts.name, entry)
      return answer
    },
  })
  return withEnds(transport)
}
