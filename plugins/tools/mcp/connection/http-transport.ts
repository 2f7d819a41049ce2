/** The transport of servers that are asked over HTTP, through the daemon's own client. */
import { createFetch, type Outbound } from '../../../../core/plugin.js'
import type { Authorization } from '../config/authorization.js'
import type { HttpEntry } from '../config/entry.js'
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
  return new kit.StreamableHTTPClientTransport(new URL(entry.url), {
    fetch: async (url, init) => {
      const all = new Headers(init?.headers)
      for (const [name, value] of Object.entries(await headers())) all.set(name, value)
      return send(url, { ...init, headers: all })
    },
    ...(authorization !== undefined && {
      authProvider: {
        token: () => authorization.token(),
        onUnauthorized: ({ response }) => authorization.refused(response.headers.get('www-authenticate') ?? undefined),
      },
    }),
  })
}
