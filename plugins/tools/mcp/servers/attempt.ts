/** One attempt to connect a server, from its first word to the list of its tools. */
import type { ServerEntry } from '../config/entry.js'
import type { Connection } from '../connection/connection.js'
import { openConnection, type OpenParts } from './open.js'

export interface AttemptParts {
  readonly name: string
  readonly entry: ServerEntry
  readonly entryNow: () => ServerEntry
  readonly signal: AbortSignal
  /** Reads its tools. */
  readonly list: (connection: Connection, signal: AbortSignal) => Promise<void>
  readonly onToolsChanged: () => void
  /** The connection has ended, for a reason of its own. */
  readonly onClosed: (reason: string) => void
}

export interface Attempt {
  /** Rejects if its tools are not known within the time of a start: such a connection is none. */
  readonly connection: Promise<Connection>
  /** Ends what it has come to. */
  undo(): void
}

export const beginAttempt = (open: OpenParts, parts: AttemptParts): Attempt => {
  const { name, entry, entryNow, list, onToolsChanged, onClosed } = parts
  const late = new AbortController()
  const signal = AbortSignal.any([parts.signal, late.signal])
  let [connection, isGivenUp]: [Connection | undefined, boolean] = [undefined, false]
  const connect = async (): Promise<Connection> => {
    const tooLate = `it did not answer within ${entry.startup_timeout_sec} s, its startup_timeout_sec`
    const cancel = open.clock.after(entry.startup_timeout_sec * 1_000, () => late.abort(tooLate))
    try {
      connection = await openConnection(open, {
        name,
        entry,
        entryNow,
        signal,
        // That it was closed for a failure is not the reason for it.
        onClosed: (why) => !isGivenUp && onClosed(why),
        onToolsChanged,
      })
      await list(connection, signal)
      return connection
    } catch (error) {
      isGivenUp = true
      await connection?.close()
      throw error
    } finally {
      cancel()
    }
  }
  return {
    connection: connect(),
    undo() {
      late.abort('it is connected anew')
      void connection?.close()
    },
  }
}
