/** One server: connected, and connected again when the connection ends, for as long as it is on the list. */
import { backoff, chance, Problem, type Clock, type Ids, type JsonObject, type Log } from '../../../../core/plugin.js'
import type { ServerEntry } from '../config/entry.js'
import { mcpErrors } from '../config/errors.js'
import type { AskOptions, Connection } from '../connection/connection.js'
import { failureOf, type Failure } from '../connection/failure.js'
import { loadKit } from '../connection/kit.js'
import { listTools, type Listing } from './listed.js'
import { openConnection, type OpenParts } from './open.js'
import { createPresence, type Presence } from './presence.js'

export type ServerState = 'connecting' | 'connected' | 'waiting'

/** A server as it is now. */
export interface ServerFacts {
  readonly state: ServerState
  /** Why it is not connected, in words; undefined if nothing has gone wrong. */
  readonly problem: { readonly code: string; readonly message: string } | undefined
  readonly instructions: string | undefined
  readonly has_resources: boolean
  readonly has_prompts: boolean
  readonly connections: number
  /** It has not been connected for as long as a start of it may take. */
  readonly is_absent: boolean
}

/** What came of a request. */
export type Asked = { readonly type: 'answered'; readonly result: JsonObject } | Failure

export interface McpServer {
  readonly name: string
  readonly entry: ServerEntry
  facts(): ServerFacts
  /**
   * It was connected, or the first attempt failed; of a required server not before the time of a start is over. Never
   * rejects.
   */
  readonly settled: Promise<void>
  isSettled(): boolean
  /** Waits for a connection first, until the signal aborts or the time of a start is over. Never rejects. */
  ask(method: string, params: JsonObject, options: AskOptions & { readonly signal: AbortSignal }): Promise<Asked>
  /** Connects anew, such as with another secret. */
  reconnect(): void
  /** Ends it, and all of its processes. */
  end(): Promise<void>
}

export interface ServerParts extends OpenParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** So many connect at a time. */
  /** Resolves when servers may be connected, or when the signal aborts. */
  readonly untilReady: (signal: AbortSignal) => Promise<void>
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Takes the place of what was told before. */
  readonly onTools: (server: McpServer, listing: Listing) => Promise<void>
}

/** Waits between attempts, milliseconds; a connection that lasted so long begins them anew. */
const [firstWaitMs, longestWaitMs, steadyMs] = [1_000, 60_000, 30_000]
/** Changes of the list that come together are one, milliseconds. */
const gatherMs = 50

export const createServer = (parts: ServerParts, name: string, entry: ServerEntry): McpServer => {
  const life = new ServerLife(parts, name, entry)
  life.begin()
  return life
}

/** A class, because it holds a connection and its processes. */
class ServerLife implements McpServer {
  readonly name: string
  readonly entry: ServerEntry
  readonly settled: Promise<void>
  readonly #parts: ServerParts
  readonly #ended = new AbortController()
  readonly #presence: Presence
  #connection: Connection | undefined
  #state: ServerState = 'connecting'
  #problem: ServerFacts['problem']
  #instructions: string | undefined
  #connections = 0
  #failures = 0
  #listing: Promise<void> = Promise.resolve()
  #isListDue = false
  #wake: () => void = () => {}
  #running: Promise<void> = Promise.resolve()
  readonly #waiting = new Set<() => void>()

  constructor(parts: ServerParts, name: string, entry: ServerEntry) {
    this.#parts = parts
    this.name = name
    this.entry = entry
    this.#presence = createPresence(parts.clock, entry.startup_timeout_sec * 1_000)
    this.settled = this.#presence.settled
  }

  isSettled(): boolean {
    return this.#presence.isSettled()
  }

  begin(): void {
    this.#running = this.#run()
  }

  facts(): ServerFacts {
    return {
      state: this.#state,
      problem: this.#problem,
      instructions: this.#instructions,
      has_resources: this.#connection?.offers.resources ?? false,
      has_prompts: this.#connection?.offers.prompts ?? false,
      connections: this.#connections,
      is_absent: this.#presence.isAbsent(),
    }
  }

  reconnect(): void {
    this.#failures = 0
    this.#wake()
    void this.#connection?.close()
  }

  async end(): Promise<void> {
    this.#ended.abort()
    this.#wake()
    this.#tellAll()
    await this.#connection?.close()
    await this.#running
  }

  async ask(
    method: string,
    params: JsonObject,
    options: AskOptions & { readonly signal: AbortSignal },
  ): Promise<Asked> {
    const connection = await this.#connected(options.signal)
    if (connection === undefined) return { type: 'unsent', reason: this.#problem?.message ?? 'it is being connected' }
    try {
      return { type: 'answered', result: await connection.ask(method, params, options) }
    } catch (error) {
      const failure = failureOf(await loadKit(), error)
      return { ...failure, reason: this.#parts.redact(failure.reason) }
    }
  }

  /** Undefined if there is none in time. */
  async #connected(signal: AbortSignal): Promise<Connection | undefined> {
    if (this.#connection !== undefined || this.#ended.signal.aborted || signal.aborted) return this.#connection
    await new Promise<void>((resolve) => {
      const tell = (): void => {
        this.#waiting.delete(tell)
        cancel()
        signal.removeEventListener('abort', tell)
        resolve()
      }
      const cancel = this.#parts.clock.after(this.entry.startup_timeout_sec * 1_000, tell)
      this.#waiting.add(tell)
      signal.addEventListener('abort', tell, { once: true })
    })
    return this.#connection
  }

  #tellAll(): void {
    for (const tell of this.#waiting) tell()
  }

  /** Connects again and again. Never rejects. */
  async #run(): Promise<void> {
    await this.#parts.untilReady(this.#ended.signal)
    this.#presence.expect()
    await this.#liveOn()
    this.#presence.end()
  }

  async #liveOn(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const began = this.#parts.clock.elapsed()
      const reason = await this.#live()
      this.#connection = undefined
      if (!this.entry.required) this.#presence.settle()
      if (this.#ended.signal.aborted) return
      this.#presence.expect()
      this.#state = 'waiting'
      this.#failures = this.#parts.clock.elapsed() - began > steadyMs ? 1 : this.#failures + 1
      this.#problem = reason
      this.#parts.log.warn('an MCP server is not connected', { server: this.name, ...reason })
      await this.#pause()
    }
  }

  async #pause(): Promise<void> {
    const wait =
      backoff({ base: firstWaitMs, max: longestWaitMs }, this.#failures) * (0.75 + chance(this.#parts.ids) / 2)
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await this.#parts.clock.sleep(wait, woken.signal)
    this.#state = 'connecting'
  }

  /** One connection, from its beginning to its end: why it ended. */
  async #live(): Promise<NonNullable<ServerFacts['problem']>> {
    let [reason, tell]: [string | undefined, (why: string) => void] = [undefined, () => {}]
    const closed = new Promise<string>((resolve) => {
      tell = resolve
    })
    const onClosed = (why: string): void => {
      reason ??= why
      // Who was waiting for an answer asks again at once, and must wait for the next connection.
      this.#connection = undefined
      tell(why)
    }
    try {
      this.#begun(await this.#parts.inTurn(() => this.#open(onClosed)))
      return { code: mcpErrors.mcp_connection_failed.code, message: this.#parts.redact(await closed) }
    } catch (error) {
      const found = await this.#reasonOf(error)
      return reason === undefined ? found : { ...found, message: this.#parts.redact(reason) }
    }
  }

  /** Within the time of a start; a connection whose tools are not known in time is none. */
  async #open(onClosed: (reason: string) => void): Promise<Connection> {
    const { name, entry } = this
    const late = new AbortController()
    const tooLate = `it did not answer within ${entry.startup_timeout_sec} s`
    const cancel = this.#parts.clock.after(entry.startup_timeout_sec * 1_000, () => late.abort(tooLate))
    const signal = AbortSignal.any([this.#ended.signal, late.signal])
    let connection: Connection | undefined
    try {
      const onToolsChanged = (): void => this.#listLater()
      connection = await openConnection(this.#parts, { name, entry, signal, onClosed, onToolsChanged })
      await this.#list(connection, signal)
      return connection
    } catch (error) {
      await connection?.close()
      throw error
    } finally {
      cancel()
    }
  }

  #begun(connection: Connection): void {
    this.#connection = connection
    this.#state = 'connected'
    this.#problem = undefined
    this.#instructions = connection.instructions && this.#parts.redact(connection.instructions)
    this.#connections += 1
    this.#parts.log.info('an MCP server is connected', { server: this.name })
    this.#presence.come()
    this.#tellAll()
    if (this.#ended.signal.aborted) void connection.close()
  }

  async #list(connection: Connection, signal: AbortSignal): Promise<void> {
    const options = { timeout_ms: this.entry.startup_timeout_sec * 1_000, signal }
    await this.#parts.onTools(this, await listTools(connection, this.entry, options))
  }

  /** What changes while the list is read is read again. */
  #listLater(): void {
    if (this.#isListDue) return
    this.#isListDue = true
    this.#listing = this.#listing.then(async () => {
      await this.#parts.clock.sleep(gatherMs, this.#ended.signal)
      this.#isListDue = false
      if (this.#connection === undefined || this.#ended.signal.aborted) return
      try {
        await this.#list(this.#connection, this.#ended.signal)
      } catch (error) {
        const { message } = await this.#reasonOf(error)
        this.#parts.log.warn('the tools of an MCP server could not be read again', { server: this.name, message })
      }
    })
  }

  async #reasonOf(error: unknown): Promise<NonNullable<ServerFacts['problem']>> {
    const { reason } = failureOf(await loadKit(), error)
    const message = this.#parts.redact(reason)
    return { code: error instanceof Problem ? error.code : mcpErrors.mcp_connection_failed.code, message }
  }
}
