/** Which servers a session sees, and what is waited for. */
import { within, type Clock, type Unready } from '../../../../core/plugin.js'
import { permitsCapability, permitsCredential, type Sessions } from '../../../execution/sessions/contract.js'
import type { ToolArrival, ToolGate } from '../../../execution/tools/contract.js'
import type { ServerEntry } from '../config/entry.js'
import { isCredentialed } from '../config/values.js'
import type { McpServer } from './mcp-server.js'
import type { Servers } from './servers.js'

type Scopes = Pick<Sessions, 'find' | 'effectiveCapabilityScope' | 'effectiveCredentialScope'>

/** How long a model call waits for servers that are not required, milliseconds. */
const patienceMs = 3_000

/** True if the credentials of a server may be used for a session; one without credentials always. */
const mayUse = (sessions: Scopes, session_id: string): ((name: string, entry: ServerEntry) => boolean) => {
  const session = sessions.find(session_id)
  const scope = session === undefined ? undefined : sessions.effectiveCredentialScope(session)
  return (name, entry) => !isCredentialed(entry) || permitsCredential(scope, 'mcp_server', name)
}

/** The servers that both scopes of a session let pass. */
export const seenBy =
  (servers: Pick<Servers, 'all'>, sessions: Scopes) =>
  (session_id: string): readonly McpServer[] => {
    const all = servers.all()
    if (all.length === 0) return all
    const session = sessions.find(session_id)
    const scope = session === undefined ? undefined : sessions.effectiveCapabilityScope(session)
    const may = mayUse(sessions, session_id)
    return all.filter(({ name, entry }) => permitsCapability(scope, 'mcp_server', name) && may(name, entry))
  }

/** Hides the tools of servers whose credentials a session may not use; the capability scope has a gate of its own. */
export const credentialGate = (servers: Pick<Servers, 'all' | 'find'>, sessions: Scopes): ToolGate => ({
  id: 'mcp-credentials',
  hidden(session_id) {
    if (!servers.all().some(({ entry }) => isCredentialed(entry))) return undefined
    const may = mayUse(sessions, session_id)
    return ({ origin }) => {
      const server = origin === undefined ? undefined : servers.find(origin.server)
      return server !== undefined && !may(server.name, server.entry)
    }
  },
})

export interface ArrivalParts {
  readonly clock: Clock
  /** Servers that a session sees. */
  readonly seenBy: (session_id: string) => readonly McpServer[]
}

/** Undefined when every server has been tried once. Runs of an earlier life go on before any has begun. */
export const arrivals = (servers: Pick<Servers, 'all' | 'begun'>, parts: ArrivalParts): ToolArrival => {
  const { clock, seenBy: sight } = parts
  const awaited = (name: string | undefined): Promise<void> | undefined => {
    if (name !== undefined && !name.startsWith('mcp__')) return undefined
    const begun = servers.begun()
    if (begun !== undefined) return begun.then(() => awaited(name))
    const open = servers.all().filter((server) => !server.isSettled())
    if (open.length === 0) return undefined
    const all = (some: readonly McpServer[]): Promise<unknown> => Promise.all(some.map(({ settled }) => settled))
    if (name !== undefined) return all(open).then(() => {})
    const others = within(clock, patienceMs, all(open.filter(({ entry }) => !entry.required)))
    return Promise.all([all(open.filter(({ entry }) => entry.required)), others]).then(() => {})
  }
  const isMissing = (server: McpServer): boolean => server.entry.required && server.facts().is_absent
  const missing = (session_id: string): string | undefined => {
    if (!servers.all().some(isMissing)) return undefined
    const found = sight(session_id).find(isMissing)
    const why = found?.facts().problem?.message ?? 'it does not answer'
    return found && `the MCP server ${found.name} is required and not connected: ${why}`
  }
  return { id: 'mcp', awaited, missing }
}

/** What the daemon waits for before it is ready: a required server that is not connected, while its start may take. */
export const requiredMissing = (servers: Pick<Servers, 'all'>): Unready | undefined => {
  const missing = servers.all().find((server) => server.entry.required && !server.isSettled())
  return missing && { what: `The MCP server ${missing.name}`, why: missing.facts().problem?.message }
}
