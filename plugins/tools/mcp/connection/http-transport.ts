/** The transport of servers that are asked over HTTP, through the daemon's own client. */
import { createFetch, type Outbound } from '../../../../core/plugin.js'
import type { Authorization } from '../config/authorization.js'
import type { HttpEntry } from '../config/entry.js'
import { boundedAnswer } from './bounded-answer.js'
import type { Kit, Transport } from './kit.js'

export interface HttpTransportParts {
  readonly kit: Kit
  readonly outbound: Outbound
  readonly entry: HttpEntry
  /** Asked for each request; rejects with a problem if a value is missing. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  readonly authorization: Authorization | undefined
}

export const createHttpTransport = (parts: HttpTransportParts): Transport => {
  const { kit, outbound, entry, headers, authorization } = parts
  const { allow_private_network, allow_cidrs, startup_timeout_sec, tool_timeout_sec } = entry
  const timeout_ms = Math.max(startup_timeout_sec, tool_timeout_sec) * 1_000
  const send = createFetch(outbound, { allow_private_network, allow_cidrs, timeout_ms })
  const sendWith = async (token: string | undefined, url: string | URL, init?: RequestInit): Promise<Response> => {
    const all = new Headers(init?.headers)
    for (const [name, value] of Object.entries(await headers())) all.set(name, value)
    if (token !== undefined) all.set('authorization', `Bearer ${token}`)
    return boundedAnswer(await send(url, { ...init, headers: all }))
  }
  return new kit.StreamableHTTPClientTransport(new URL(entry.url), {
    // Not with the package's own provider, which does not say which token was refused: among many requests at a time
    // all but the first one would be refused with a token that was renewed already.
    fetch: async (url, init) => {
      const token = await authorization?.token()
      const response = await sendWith(token, url, init)
      if (authorization === undefined || token === undefined) return response
      if (response.status === 403) authorization.forbidden(kit.extractWWWAuthenticateParams(response))
      if (response.status !== 401) return response
      await response.body?.cancel()
      await authorization.refused(token)
      return sendWith(await authorization.token(), url, init)
    },
  })
}
