/** One connection to a server, from the handshake to its end. */
import { assert, fault, unsafeCast, within, type Clock, type Json, type JsonObject } from '../../../../core/plugin.js'
import { failureOf } from './failure.js'
import type { Client, Kit, Transport } from './kit.js'
import { isResult, noResultText } from './message.js'

/** How one request is made. */
export interface AskOptions {
  readonly timeout_ms: number
  /** To abort it tells the server. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: Progress) => void
}

/** What a server says while it works. */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface Connection {
  /** What the server says of itself, as it says it. */
  readonly instructions: string | undefined
  readonly offers: Readonly<Record<'tools' | 'resources' | 'prompts', boolean>>
  /** The result as the server gives it; only its list is known to be one. Rejects with errors of the package. */
  ask(method: string, params: JsonObject, options: AskOptions): Promise<JsonObject>
  /** Ends it. Never rejects. */
  close(): Promise<void>
}

export interface ConnectionParts {
  readonly kit: Kit
  readonly clock: Clock
  readonly transport: Transport
  readonly version: string
  readonly timeout_ms: number
  readonly signal: AbortSignal
  readonly onToolsChanged: () => void
  /** Called once, when nothing more can be asked, with why if that is known. */
  readonly onClosed: (reason?: string) => void
}

type RawSchema = {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => { readonly value: JsonObject }
  }
}
/** Results are judged where they are used: one odd tool must not take the others of its list. */
const raw: RawSchema = {
  '~standard': { version: 1, vendor: 'holdfast', validate: (value) => ({ value: unsafeCast<JsonObject>(value) }) },
}

const refuse = (kit: Kit, method: string): never => {
  throw new kit.ProtocolError(
    kit.ProtocolErrorCode.MethodNotFound,
    `${method} is not available: this client runs no model, asks nobody and shows no folders for a server.`,
  )
}

/** For a probe of a server whose stream broke, and for the end of an HTTP session, milliseconds. */
const [probeMs, farewellMs] = [5_000, 1_000]

/**
 * A server over HTTP has no connection that ends: when a request fails or a stream of it breaks, it is asked whether it
 * is there.
 */
const watchStream = ({ kit, clock, onClosed }: ConnectionParts, client: Client): void => {
  let isProbing = false
  const probe = async (): Promise<void> => {
    if (isProbing) return
    isProbing = true
    try {
      await clock.sleep(100)
      await client.ping({ timeout: probeMs })
    } catch (error) {
      onClosed(failureOf(kit, error).reason)
      await client.close().catch(() => {})
    } finally {
      isProbing = false
    }
  }
  client.onerror = () => void probe()
}

const openClient = (parts: ConnectionParts): Client => {
  const { kit, version, onToolsChanged, onClosed } = parts
  const client = new kit.Client({ name: 'holdfast', version }, { capabilities: {} })
  client.fallbackRequestHandler = ({ method }) => refuse(kit, method)
  client.setNotificationHandler('notifications/tools/list_changed', onToolsChanged)
  client.onclose = () => onClosed()
  client.onerror = () => {}
  return client
}

/** Resolves when the handshake is done. Rejects with why it is not, and has ended the transport then. */
export const connect = async (parts: ConnectionParts): Promise<Connection> => {
  const { kit, transport, timeout_ms, signal } = parts
  const client = openClient(parts)
  try {
    await client.connect(transport, { timeout: timeout_ms, signal })
  } catch (error) {
    await transport.close().catch(() => {})
    if (error instanceof kit.SdkError && error.code === kit.SdkErrorCode.InvalidResult)
      throw fault(noResultText('initialize'))
    throw error
  }
  const capabilities = client.getServerCapabilities()
  assert(capabilities, 'a server that answered the handshake has capabilities')
  const http = transport instanceof kit.StreamableHTTPClientTransport ? transport : undefined
  if (http !== undefined) watchStream(parts, client)
  return {
    instructions: client.getInstructions(),
    offers: {
      tools: capabilities.tools !== undefined,
      resources: capabilities.resources !== undefined,
      prompts: capabilities.prompts !== undefined,
    },
    async ask(method, params, options) {
      const given = await client.request({ method, params: { ...params } }, raw, {
        timeout: options.timeout_ms,
        ...(options.signal !== undefined && { signal: options.signal }),
        ...(options.onProgress !== undefined && { onprogress: options.onProgress }),
      })
      const result = unsafeCast<Json>(given)
      if (!isResult(method, result)) throw fault(noResultText(method))
      return result
    },
    async close() {
      if (http !== undefined)
        await within(
          parts.clock,
          farewellMs,
          http.terminateSession().catch(() => {}),
        )
      await client.close().catch(() => {})
    },
  }
}
