/** The servers of the list: begun, begun anew when their entries change, and ended. */
import type { List, Log } from '../../../../core/plugin.js'
import type { ServerEntry } from '../config/entry.js'
import { secretsOf } from '../config/values.js'
import type { Listing } from './listed.js'
import { createServer, type McpServer, type ServerParts } from './server.js'
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
  /** Connects those anew that use a secret. */
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

export const createServers = (parts: ServersParts): Servers => {
  const { list, onGone, onAny, keeps } = parts
  const servers = new Map<string, McpServer>()
  const endings = new Set<Promise<void>>()
  const inTurn = createSlots(parts.clock)
  const enabled = () => [...list.all()].filter(([, entry]) => entry.enabled)
  const end = (name: string): void => {
    const server = servers.get(name)
    if (server === undefined) return
    servers.delete(name)
    onGone(name)
    const ending = server.end().finally(() => endings.delete(ending))
    endings.add(ending)
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
      end(name)
      const entry = list.all().get(name)
      if (entry?.enabled === true) servers.set(name, createServer({ ...parts, inTurn }, name, entry))
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
        for (const name of servers.keys()) end(name)
        await Promise.all(endings)
      }
    },
    secretChanged(ref) {
      for (const server of servers.values())
        if (secretsOf(server.entry).includes(ref) && !keeps(server, ref)) server.reconnect()
    },
  }
}
