/** The servers of the list: begun, changed or begun anew when their entries change, and ended. */
import type { List, Log } from '../../../../core/plugin.js'
import { isStdio, type ServerEntry } from '../config/entry.js'
import { secretsOf } from '../config/values.js'
import type { SecretStatus } from '../../../operator/secrets/contract.js'
import type { Listing } from './listed.js'
import type { McpServer } from './mcp-server.js'
import { createServer, type ServerParts } from './server.js'
import { createSlots } from './slots.js'

export interface Servers {
  /** Those that are enabled, in the order of the list. */
  all(): readonly McpServer[]
  find(name: string): McpServer | undefined
  /** Names of enabled servers that use a secret, connected or not. */
  using(secret_ref: string): readonly string[]
  /** Resolves when those that are enabled have begun; undefined from then on, and if none is. */
  begun(): Promise<void> | undefined
  /** Begins all; the undo ends all, with every process of theirs. */
  begin(): () => Promise<void>
  /** Connects those anew that use a secret; where it is withheld from now on, their calls are cut off. */
  secretChanged(secret_ref: string): void
}

export interface ServersParts extends Omit<ServerParts, 'inTurn'> {
  /** There are servers; its undo is called when there are none. */
  readonly onAny: () => () => void
  readonly list: List<ServerEntry>
  /** True if a connection goes on with the value that a secret has now, because it is asked for at each request. */
  readonly keeps: (server: Pick<McpServer, 'name' | 'entry' | 'facts'>, secret_ref: string) => boolean
  readonly log: Log
  /** A server is no longer there, or begins anew: what it had goes. */
  readonly onGone: (name: string) => void
  readonly onTools: (server: McpServer, listing: Listing) => Promise<void>
}

const none: readonly McpServer[] = []

/** Nothing may go on with a secret that is gone or was revoked. */
const isWithheld = (slot: SecretStatus | undefined): boolean =>
  slot === undefined || slot.details.revoked_at_ms !== undefined

export const createServers = (parts: ServersParts): Servers => {
  const { list, onGone, onAny, keeps, slots } = parts
  const servers = new Map<string, McpServer>()
  /** Those that calls in flight keep, until they have ended. */
  const leaving = new Map<McpServer, Promise<void>>()
  const inTurn = createSlots(parts.clock)
  const enabled = () => [...list.all()].filter(([, entry]) => entry.enabled)
  const leave = (name: string): void => {
    const server = servers.get(name)
    if (server === undefined) return
    servers.delete(name)
    onGone(name)
    leaving.set(
      server,
      server.leave().finally(() => leaving.delete(server)),
    )
  }
  /** A program is not begun beside one of its name that is at work yet: they may share a file. */
  const begin = (name: string, entry: ServerEntry): McpServer => {
    const before = [...leaving].filter(([server]) => server.name === name && isStdio(server.entry))
    const over = Promise.all(before.map(([, left]) => left))
    const untilReady = async (signal: AbortSignal): Promise<void> => {
      await over
      await parts.untilReady(signal)
    }
    return createServer({ ...parts, inTurn, untilReady }, name, entry)
  }
  let undoAny: (() => void) | undefined
  const tellAny = (): void => {
    if (servers.size > 0) undoAny ??= onAny()
    else {
      undoAny?.()
      undoAny = undefined
    }
  }
  const apply = (names: readonly string[]): void => {
    for (const name of names) {
      const entry = list.all().get(name)
      const isEnabled = entry?.enabled === true
      if (isEnabled && servers.get(name)?.take(entry) === true) continue
      leave(name)
      if (isEnabled) servers.set(name, begin(name, entry))
    }
    tellAny()
  }
  let hasBegun = false
  let tellBegun: () => void = () => {}
  const begun = new Promise<void>((resolve) => {
    tellBegun = resolve
  })
  return {
    begun: () => (hasBegun || enabled().length === 0 ? undefined : begun),
    all: () => (servers.size === 0 ? none : enabled().flatMap(([name]) => servers.get(name) ?? [])),
    find: (name) => servers.get(name),
    using: (ref) => enabled().flatMap(([name, entry]) => (secretsOf(entry).includes(ref) ? [name] : [])),
    begin() {
      const undo = list.onChange(apply)
      apply(enabled().map(([name]) => name))
      hasBegun = true
      tellBegun()
      return async () => {
        undo()
        for (const name of servers.keys()) leave(name)
        await Promise.all([...leaving.keys()].map((server) => server.end()))
      }
    },
    secretChanged(ref) {
      const cutsOff = isWithheld(slots()?.find(ref))
      for (const server of [...servers.values(), ...leaving.keys()])
        if (secretsOf(server.entry).includes(ref) && !keeps(server, ref)) server.reconnect({ cutsOff })
    },
  }
}
