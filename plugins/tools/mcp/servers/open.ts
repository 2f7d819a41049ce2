/** Opens connections to servers, a few at a time. */
import {
  toldLine,
  visibleLine,
  type Clock,
  type HostView,
  type Log,
  type Outbound,
  type PassedEnvironment,
  type Supervised,
} from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import type { Authorize } from '../config/authorization.js'
import type { Credentials } from '../config/credentials.js'
import { isHttp, isStdio, type ServerEntry } from '../config/entry.js'
import { mcpErrors } from '../config/errors.js'
import { environmentOf, headersOf } from '../config/values.js'
import { connect, type Connection } from '../connection/connection.js'
import type { EndProgram } from '../connection/endings.js'
import { failureOf } from '../connection/failure.js'
import { createHttpTransport } from '../connection/http-transport.js'
import { loadKit, type Kit, type Transport } from '../connection/kit.js'
import { createSaid } from '../connection/said.js'
import { createStdioTransport } from '../connection/stdio-transport.js'

export interface OpenParts {
  readonly clock: Clock
  readonly log: Log
  readonly host: Pick<HostView, 'workspaceRoot' | 'version'>
  readonly supervised: Supervised
  readonly endProgram: EndProgram
  readonly outbound: Outbound
  readonly slots: () => SecretSlots | undefined
  readonly credentials: Pick<Credentials, 'find'>
  readonly redact: PassedEnvironment['redact']
  readonly guard: (value: string) => void
  readonly authorize: Authorize
}

export interface Opening {
  readonly name: string
  readonly entry: ServerEntry
  /** With the time-outs of now. */
  readonly entryNow: () => ServerEntry
  readonly signal: AbortSignal
  readonly onToolsChanged: () => void
  /** Called once, when a connection that was made can be asked nothing more. */
  readonly onClosed: (reason: string) => void
}

interface Route {
  readonly transport: Transport
  /** Why the transport ended, if it has said so. */
  readonly why: () => string | undefined
  /** The first line of a program that is no message, safe to show. */
  readonly strange: () => string | undefined
}

/** Signs of a line that is no message. */
const mostStrange = 300

/** Why a connection ended, in words of its transport: the first one counts. */
const createReasons = ({ log, redact }: OpenParts, server: string) => {
  let [ended, hasGarbage]: [string | undefined, boolean] = [undefined, false]
  let strange: string | undefined
  return {
    why: () => ended,
    strange: () => strange,
    onEnd: (reason: string): void => {
      ended ??= reason
    },
    onGarbage: (line?: string): void => {
      if (hasGarbage) return
      hasGarbage = true
      if (line !== undefined) strange = toldLine(line, mostStrange, redact)
      log.warn('an MCP server wrote a line that is no message', {
        server,
        ...(strange !== undefined && { line: strange }),
      })
    },
  }
}

const programRoute = (parts: OpenParts, kit: Kit, { entry, name }: Opening): Route | undefined => {
  if (!isStdio(entry)) return undefined
  const { onEnd, onGarbage, ...told } = createReasons(parts, name)
  const transport = createStdioTransport({
    ...parts,
    kit,
    said: createSaid(parts, visibleLine(name)),
    wish: {
      run: [entry.command, ...entry.args],
      folder: entry.cwd ?? parts.host.workspaceRoot,
      environment: environmentOf(parts, entry),
    },
    onEnd,
    onGarbage,
  })
  return { transport, ...told }
}

const httpRoute = (parts: OpenParts, kit: Kit, { entry, entryNow, name }: Opening): Route => {
  if (!isHttp(entry)) throw mcpErrors.mcp_connection_failed({ details: { reason: 'It has no address.' } })
  const { onEnd, onGarbage, ...told } = createReasons(parts, name)
  const transport = createHttpTransport({
    ...parts,
    onEnd,
    onGarbage,
    kit,
    name,
    entry,
    timeouts: entryNow,
    headers: () => Promise.resolve(headersOf(parts, entry)),
    authorization: parts.authorize(name, entry),
  })
  return { transport, ...told }
}

/**
 * Why it could not be connected, where its transport knows that: a program that writes lines of its own where messages
 * belong may be waited for in vain for that alone.
 */
const startFailure = (kit: Kit, { why, strange }: Route, error: unknown): string | undefined => {
  const ended = why() === 'it was closed' ? undefined : why()
  const line = strange()
  const { type, reason } = failureOf(kit, error)
  if (line === undefined || type === 'refused') return ended
  return `${ended ?? reason}; it wrote a line that is no message: ${line}`
}

/** Rejects with a problem, or an error of the package. */
export const openConnection = async (parts: OpenParts, opening: Opening): Promise<Connection> => {
  const { entry, signal, onToolsChanged, onClosed } = opening
  const kit = await loadKit()
  const route = programRoute(parts, kit, opening) ?? httpRoute(parts, kit, opening)
  let isMade = false
  try {
    const connection = await connect({
      ...parts,
      kit,
      version: parts.host.version,
      transport: route.transport,
      timeout_ms: entry.startup_timeout_sec * 1_000,
      signal,
      onToolsChanged,
      onClosed: (reason) => {
        if (isMade) onClosed(route.why() ?? reason ?? 'it does not answer any more')
      },
    })
    isMade = true
    return connection
  } catch (error) {
    const reason = startFailure(kit, route, error)
    if (reason === undefined) throw error
    throw mcpErrors.mcp_connection_failed({ details: { reason: parts.redact(reason) }, cause: error })
  }
}
