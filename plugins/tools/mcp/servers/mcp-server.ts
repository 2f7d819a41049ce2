/** A server of the list, as the rest of the plugin knows it. */
import type { JsonObject } from '../../../../core/plugin.js'
import type { ServerEntry } from '../config/entry.js'
import type { AskOptions } from '../connection/connection.js'
import type { Failure } from '../connection/failure.js'
import type { ServerProblem } from './problem.js'

export type ServerState = 'connecting' | 'connected' | 'waiting'

/** A server as it is now. */
export interface ServerFacts {
  readonly state: ServerState
  /** Why it is not connected, in words; undefined if nothing has gone wrong. */
  readonly problem: ServerProblem | undefined
  /** Why a change of its tools could not be read, in words; undefined if none is known that was not. */
  readonly list_problem: string | undefined
  readonly instructions: string | undefined
  readonly has_resources: boolean
  readonly has_prompts: boolean
  readonly connections: number
  /** It has not been connected for as long as a start of it may take. */
  readonly is_absent: boolean
  /** It is connected anew when its program has ended, with the calls in flight. */
  readonly awaits_calls: boolean
}

/** Why a server is not connected that awaits calls. */
export const awaitsCallsText = 'its program is to end first, with the calls that it was asked; then it is started anew'

/** What came of a request. */
export type Asked = { readonly type: 'answered'; readonly result: JsonObject } | Failure

export interface McpServer {
  readonly name: string
  /** As it is now. */
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
  /**
   * True if it goes on with another entry, as one that is connected does: calls that begin from now on are made as it
   * says, by a connection of their own where the one that is there is none for it.
   */
  take(entry: ServerEntry): boolean
  /** Connects anew, such as with another secret. Calls in flight end first, or are cut off. */
  reconnect(wish: { readonly cutsOff: boolean }): void
  /** Takes no call any more, and ends when those in flight have. */
  leave(): Promise<void>
  /** Ends it, and all of its processes. */
  end(): Promise<void>
}
