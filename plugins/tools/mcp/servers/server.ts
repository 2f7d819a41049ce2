/** One server: connected, and connected again when the connection ends, for as long as it is on the list. */
import { backoff, chance, type Clock, type Ids, type JsonObject, type Log } from '../../../../core/plugin.js'
import { isSameConnection, isStdio, type ServerEntry } from '../config/entry.js'
import { mcpErrors } from '../config/errors.js'
import type { AskOptions, Connection } from '../connection/connection.js'
import { failureOf, shownReason } from '../connection/failure.js'
import { loadKit } from '../connection/kit.js'
import { keptInstructions } from '../connection/said.js'
import { leavable, type LeavableConnection } from '../connection/leavable.js'
import { beginAttempt } from './attempt.js'
import { listTools, type Listing } from './listed.js'
import type { OpenParts } from './open.js'
import { awaitsCallsText, type Asked, type McpServer, type ServerFacts, type ServerState } from './mcp-server.js'
import { createPresence, type Presence } from './presence.js'
import { endedBy, problemOf, type ServerProblem } from './problem.js'
import { createRelisting, type Relisting } from './relisting.js'
import type { InTurn } from './slots.js'
import { createWaiting, type Waiting } from './waiting.js'

export interface ServerParts extends OpenParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** Resolves when servers may be connected, or when the signal aborts. */
  readonly untilReady: (signal: AbortSignal) => Promise<void>
  readonly inTurn: InTurn
  /** Takes the place of what was told before. */
  readonly onTools: (server: McpServer, listing: Listing) => Promise<void>
  /** It has another entry, by which what was told of its tools is to be shown. */
  readonly onEntry: (server: McpServer) => void
}

/** Waits between attempts, milliseconds; a connection that lasted so long begins them anew. */
const [firstWaitMs, longestWaitMs, steadyMs] = [1_000, 60_000, 30_000]

const anewText = 'it is connected anew'

export const createServer = (parts: ServerParts, name: string, entry: ServerEntry): McpServer => {
  const life = new ServerLife(parts, name, entry)
  life.begin()
  return life
}

/** A class, because it holds a connection and its processes. */
class ServerLife implements McpServer {
  readonly name: string
  entry: ServerEntry
  readonly settled: Promise<void>
  readonly #parts: ServerParts
  readonly #ended = new AbortController()
  readonly #presence: Presence
  #connection: LeavableConnection | undefined
  /** Those that take no call any more, until they are closed. */
  readonly #left = new Map<Connection, Promise<void>>()
  #awaitsCalls = false
  #relisting: Relisting | undefined
  #state: ServerState = 'connecting'
  #problem: ServerProblem | undefined
  #instructions: string | undefined
  #connections = 0
  #failures = 0
  #listProblem: string | undefined
  /** Ends what has begun with the secrets of then; undefined before, and when it is over. */
  #redo: ((wish: { readonly cutsOff: boolean }) => void) | undefined
  #isAnew = false
  #wake: () => void = () => {}
  #running: Promise<void> = Promise.resolve()
  readonly #waiting: Waiting

  constructor(parts: ServerParts, name: string, entry: ServerEntry) {
    this.#parts = parts
    this.name = name
    this.entry = entry
    this.#presence = createPresence(parts.clock, () => this.entry.startup_timeout_sec * 1_000)
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
      awaits_calls: this.#awaitsCalls,
    }
  }

  take(entry: ServerEntry): boolean {
    if (this.#connection === undefined && this.#left.size === 0) return false
    const goesOn = this.#connection !== undefined && isSameConnection(this.entry, entry)
    this.entry = entry
    this.#parts.onEntry(this)
    // It may name tools that were left out of the list before.
    if (goesOn) this.#relisting?.changed()
    else this.reconnect({ cutsOff: false })
    return true
  }

  reconnect({ cutsOff }: { readonly cutsOff: boolean }): void {
    this.#failures = 0
    this.#wake()
    this.#redo?.({ cutsOff })
    if (cutsOff) this.#cutOff()
  }

  async leave(): Promise<void> {
    this.#ended.abort()
    this.#wake()
    this.#waiting.tellAll()
    this.#redo?.({ cutsOff: false })
    await this.#running
    await Promise.all(this.#left.values())
  }

  async end(): Promise<void> {
    const left = this.leave()
    this.#cutOff()
    await left
  }

  #cutOff(): void {
    for (const connection of this.#left.keys()) void connection.close()
  }

  async ask(
    method: string,
    params: JsonObject,
    options: AskOptions & { readonly signal: AbortSignal },
  ): Promise<Asked> {
    const connection = await this.#connected(options)
    if (connection === undefined) return { type: 'unsent', reason: this.#whyNot() }
    try {
      return { type: 'answered', result: await connection.ask(method, params, options) }
    } catch (error) {
      const failure = failureOf(await loadKit(), error)
      return { ...failure, reason: endedBy(options) ?? shownReason(failure.reason, this.#parts.redact) }
    }
  }

  /** Undefined if there is none in time. */
  async #connected({ signal, timeout_ms }: AskOptions & { readonly signal: AbortSignal }) {
    if (this.#connection !== undefined || this.#ended.signal.aborted || signal.aborted) return this.#connection
    const others_ms = this.#awaitsCalls ? timeout_ms : 0
    await this.#waiting.wait(others_ms + this.entry.startup_timeout_sec * 1_000, signal)
    return this.#connection
  }

  #whyNot(): string {
    if (this.#ended.signal.aborted) return 'it is not on the list any more'
    return this.#awaitsCalls ? awaitsCallsText : (this.#problem?.message ?? 'it is being connected')
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

  async #waitAfter(reason: ServerProblem, began: number): Promise<void> {
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
  async #live(): Promise<ServerProblem> {
    let [reason, tell]: [string | undefined, (why: string) => void] = [undefined, () => {}]
    const closed = new Promise<string>((resolve) => {
      tell = resolve
    })
    let connection: LeavableConnection | undefined
    const onClosed = (why: string): void => {
      reason ??= why
      // Who was waiting for an answer asks again at once, and must wait for the next connection.
      if (this.#connection === connection) this.#connection = undefined
      tell(why)
    }
    const over = new AbortController()
    const relisting = this.#createRelisting(over.signal)
    try {
      const turn = { isUrgent: this.entry.required }
      const made = await this.#parts.inTurn(turn, () => this.#open(onClosed, relisting.changed))
      connection = leavable(made)
      this.#begun(connection)
      this.#relisting = relisting
      relisting.begin(() => this.#list(made, over.signal))
      const why = await Promise.race([closed, this.#untilLeft(connection, over)])
      return { code: mcpErrors.mcp_connection_failed.code, message: shownReason(why, this.#parts.redact) }
    } catch (error) {
      const found = await problemOf(error, this.#parts.redact)
      return reason === undefined ? found : { ...found, message: shownReason(reason, this.#parts.redact) }
    } finally {
      this.#redo = undefined
      this.#awaitsCalls = false
      over.abort('over')
    }
  }

  /** Resolves when it takes no call any more; of a program not before it has ended: two of it may share a file. */
  #untilLeft(connection: LeavableConnection, over: AbortController): Promise<string> {
    const isProgram = isStdio(this.entry)
    return new Promise((resolve) => {
      this.#redo = ({ cutsOff }) => {
        this.#redo = undefined
        over.abort('over')
        this.#isAnew = true
        this.#connection = undefined
        this.#state = 'connecting'
        this.#awaitsCalls = isProgram && !cutsOff
        const left = (cutsOff ? connection.close() : connection.leave()).finally(() => this.#left.delete(connection))
        this.#left.set(connection, left)
        resolve(isProgram ? left.then(() => anewText) : anewText)
      }
    })
  }

  #createRelisting(signal: AbortSignal): Relisting {
    const { clock, log } = this.#parts
    const onRead = async (error: unknown): Promise<void> => {
      this.#listProblem = error === undefined ? undefined : (await problemOf(error, this.#parts.redact)).message
      if (error === undefined) return
      log.warn('the tools of an MCP server could not be read again', { server: this.name, message: this.#listProblem })
    }
    return createRelisting({ clock, signal, onRead: (error) => void onRead(error) })
  }

  #open(onClosed: (reason: string) => void, onToolsChanged: () => void): Promise<Connection> {
    const { name, entry } = this
    // It was ended while it waited for its turn: nothing of it begins any more.
    this.#ended.signal.throwIfAborted()
    this.#presence.expect()
    const list = (connection: Connection, signal: AbortSignal): Promise<void> => this.#list(connection, signal)
    const entryNow = (): ServerEntry => this.entry
    const parts = { name, entry, entryNow, signal: this.#ended.signal, list, onToolsChanged, onClosed }
    const attempt = beginAttempt(this.#parts, parts)
    this.#redo = () => {
      this.#isAnew = true
      attempt.undo()
    }
    return attempt.connection
  }

  #begun(connection: LeavableConnection): void {
    this.#connection = connection
    this.#state = 'connected'
    this.#problem = undefined
    this.#listProblem = undefined
    this.#instructions = keptInstructions(connection.instructions, this.#parts.redact)
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
}
