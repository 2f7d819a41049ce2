/** One server: connected, and connected again when the connection ends, for as long as it is on the list. */
import { backoff, chance, Problem, type Clock, type Ids, type JsonObject, type Log } from '../../../../core/plugin.js'
import type { ServerEntry } from '../config/entry.js'
import { mcpErrors } from '../config/errors.js'
import type { AskOptions, Connection } from '../connection/connection.js'
import { failureOf, shownReason, type Failure } from '../connection/failure.js'
import { loadKit } from '../connection/kit.js'
import { beginAttempt } from './attempt.js'
import { listTools, type Listing } from './listed.js'
import type { OpenParts } from './open.js'
import { createPresence, type Presence } from './presence.js'
import { createRelisting, type Relisting } from './relisting.js'
import type { InTurn } from './slots.js'
import { createWaiting, type Waiting } from './waiting.js'

export type ServerState = 'connecting' | 'connected' | 'waiting'

/** A server as it is now. */
export interface ServerFacts {
  readonly state: ServerState
  /** Why it is not connected, in words; undefined if nothing has gone wrong. */
  readonly problem: { readonly code: string; readonly message: string } | undefined
  /** Why a change of its tools could not be read, in words; undefined if none is known that was not. */
  readonly list_problem: string | undefined
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
  /** Resolves when servers may be connected, or when the signal aborts. */
  readonly untilReady: (signal: AbortSignal) => Promise<void>
  readonly inTurn: InTurn
  /** Takes the place of what was told before. */
  readonly onTools: (server: McpServer, listing: Listing) => Promise<void>
}

/** Waits between attempts, milliseconds; a connection that lasted so long begins them anew. */
const [firstWaitMs, longestWaitMs, steadyMs] = [1_000, 60_000, 30_000]

/** Why a request was over before its answer came, if that is its caller's doing. */
const endedBy = ({ signal }: { readonly signal: AbortSignal }): string | undefined => {
  if (!signal.aborted) return undefined
  const reason: unknown = signal.reason
  return reason instanceof DOMException && reason.name === 'TimeoutError' ? reason.message : 'it was not waited for'
}

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
  #listProblem: string | undefined
  /** Ends what has begun with the secrets of then; undefined before, and when it is over. */
  #redo: (() => void) | undefined
  #isAnew = false
  #wake: () => void = () => {}
  #running: Promise<void> = Promise.resolve()
  readonly #waiting: Waiting

  constructor(parts: ServerParts, name: string, entry: ServerEntry) {
    this.#parts = parts
    this.name = name
    this.entry = entry
    this.#presence = createPresence(parts.clock, entry.startup_timeout_sec * 1_000)
    this.settled = this.#presence.settled
    this.#waiting = createWaiting(parts.clock)
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
      list_problem: this.#listProblem,
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
    this.#redo?.()
  }

  async end(): Promise<void> {
    this.#ended.abort()
    this.#wake()
    this.#waiting.tellAll()
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
      return { ...failure, reason: endedBy(options) ?? shownReason(failure.reason, this.#parts.redact) }
    }
  }

  /** Undefined if there is none in time. */
  async #connected(signal: AbortSignal): Promise<Connection | undefined> {
    if (this.#connection !== undefined || this.#ended.signal.aborted || signal.aborted) return this.#connection
    await this.#waiting.wait(this.entry.startup_timeout_sec * 1_000, signal)
    return this.#connection
  }

  /** Connects again and again. Never rejects. */
  async #run(): Promise<void> {
    await this.#parts.untilReady(this.#ended.signal)
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
      const isAnew = this.#isAnew
      this.#isAnew = false
      if (isAnew) this.#state = 'connecting'
      else await this.#waitAfter(reason, began)
    }
  }

  async #waitAfter(reason: NonNullable<ServerFacts['problem']>, began: number): Promise<void> {
    this.#state = 'waiting'
    this.#failures = this.#parts.clock.elapsed() - began > steadyMs ? 1 : this.#failures + 1
    this.#problem = reason
    this.#parts.log.warn('an MCP server is not connected', { server: this.name, ...reason })
    await this.#pause()
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
    const over = new AbortController()
    const relisting = this.#relisting(over.signal)
    try {
      const turn = { isUrgent: this.entry.required }
      this.#begun(await this.#parts.inTurn(turn, () => this.#open(onClosed, relisting)))
      return { code: mcpErrors.mcp_connection_failed.code, message: shownReason(await closed, this.#parts.redact) }
    } catch (error) {
      const found = await this.#reasonOf(error)
      return reason === undefined ? found : { ...found, message: shownReason(reason, this.#parts.redact) }
    } finally {
      this.#redo = undefined
      over.abort('over')
    }
  }

  #relisting(signal: AbortSignal): Relisting {
    const { clock, log } = this.#parts
    const onRead = async (error: unknown): Promise<void> => {
      this.#listProblem = error === undefined ? undefined : (await this.#reasonOf(error)).message
      if (error === undefined) return
      log.warn('the tools of an MCP server could not be read again', { server: this.name, message: this.#listProblem })
    }
    return createRelisting({ clock, signal, onRead: (error) => void onRead(error) })
  }

  async #open(onClosed: (reason: string) => void, relisting: Relisting): Promise<Connection> {
    const { name, entry } = this
    // It was ended while it waited for its turn: nothing of it begins any more.
    this.#ended.signal.throwIfAborted()
    this.#presence.expect()
    const list = (connection: Connection, signal: AbortSignal): Promise<void> => this.#list(connection, signal)
    const parts = { name, entry, signal: this.#ended.signal, list, onToolsChanged: relisting.changed, onClosed }
    const attempt = beginAttempt(this.#parts, parts)
    this.#redo = () => {
      this.#isAnew = true
      attempt.undo()
    }
    const connection = await attempt.connection
    relisting.begin(() => list(connection, this.#ended.signal))
    return connection
  }

  #begun(connection: Connection): void {
    this.#connection = connection
    this.#state = 'connected'
    this.#problem = undefined
    this.#listProblem = undefined
    this.#instructions = connection.instructions && this.#parts.redact(connection.instructions)
    this.#connections += 1
    this.#parts.log.info('an MCP server is connected', { server: this.name })
    this.#presence.come()
    this.#waiting.tellAll()
    if (this.#ended.signal.aborted) void connection.close()
  }

  async #list(connection: Connection, signal: AbortSignal): Promise<void> {
    const options = { timeout_ms: this.entry.startup_timeout_sec * 1_000, signal }
    await this.#parts.onTools(this, await listTools(connection, this.entry, options))
  }

  async #reasonOf(error: unknown): Promise<NonNullable<ServerFacts['problem']>> {
    const { reason } = failureOf(await loadKit(), error)
    const message = shownReason(reason, this.#parts.redact)
    return { code: error instanceof Problem ? error.code : mcpErrors.mcp_connection_failed.code, message }
  }
}
