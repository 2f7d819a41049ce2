/** The programs of all connectors that have one: begun, begun anew when a connector changes, and ended (external-51). */
import { canonical, digest, type Clock, type HostView, type Log, type Supervised } from '../../../../core/plugin.js'
import type { Connector, Connectors } from '../../registry/contract.js'
import { createChild, type Child, type ChildParts, type ChildStates, type Lent } from './child.js'
import type { ChildSettings } from './environment.js'
import type { Looks } from './readiness.js'

/** A connector that has a program. */
export type ChildConnector = Connector & {
  readonly settings: { readonly base_url: string; readonly child_process: ChildSettings }
}

export interface ChildrenParts {
  readonly clock: Clock
  readonly log: Log
  readonly supervised: Supervised
  readonly redact: (text: string) => string
  readonly host: Pick<HostView, 'workspaceRoot' | 'controlPlane' | 'phase'>
  readonly connectors: Pick<Connectors, 'onChange' | 'trouble' | 'well'>
  /** Those that have a program, of all that are in force. */
  readonly all: () => readonly ChildConnector[]
  readonly find: (name: string) => ChildConnector | undefined
  readonly looks: (name: string) => Looks
  /** Credentials for one life of its program; undefined if it has none. Rejects with a problem. */
  readonly lend: (connector: ChildConnector) => Promise<Lent | undefined>
  /** For the metric. */
  readonly restarted: (name: string) => void
}

export interface Children {
  /** Begins all; its undo ends all, with every process of theirs. */
  begin(): () => Promise<void>
}

/** How often it is looked whether the daemon listens: programs need its address. */
const readyLookMs = 20

/** Where programs of this machine reach the daemon. */
export const daemonUrlOf = ({ base_url, bind_is_unspecified }: ReturnType<HostView['controlPlane']>): string => {
  if (!bind_is_unspecified) return base_url
  const url = new URL(base_url)
  url.hostname = url.hostname.includes(':') ? '[::1]' : '127.0.0.1'
  return url.origin
}

/** Another one when anything of it is another; the token is not kept. */
const keyOf = (connector: ChildConnector): string => {
  const { settings } = connector
  try {
    return digest(canonical([{ ...settings }, connector.secret('shared_token') ?? null]))
  } catch {
    return 'its secret cannot be used'
  }
}

const action = 'See what it wrote in the log of the daemon, at the level debug, and mend its program or its settings.'

/** How a program does, as the health of its connector. */
const statesOf = ({ connectors, restarted }: ChildrenParts, name: string): ChildStates => {
  const trouble = (state: 'degraded' | 'deaf', cause: string, what: string): void =>
    connectors.trouble('external', name, { state, cause, action: what })
  return {
    starting: () => trouble('degraded', 'Its program is starting.', 'Wait: it has 20 s to be ready.'),
    ready: () => connectors.well('external', name),
    degraded: (cause) => trouble('degraded', `Its program runs, and ${cause}.`, action),
    waiting: (cause, wait_ms) =>
      trouble(
        'deaf',
        `Its program does not run: ${cause}. It is started again ${Math.round(wait_ms / 1000)} s after that.`,
        action,
      ),
    restarted: () => restarted(name),
  }
}

export const createChildren = (parts: ChildrenParts): Children => {
  const { clock, host, connectors, all, find, looks, lend } = parts
  const lives = new Map<string, { readonly key: string; readonly child: Child }>()
  /** Of those that are going, by name: the next one waits for it. */
  const endings = new Map<string, Promise<void>>()
  const wishOf = (name: string): ReturnType<ChildParts['wish']> => {
    const connector = find(name)
    if (connector === undefined) return undefined
    const { base_url, child_process: child } = connector.settings
    return { base_url, child, sharedToken: () => connector.secret('shared_token') }
  }
  const partsOf = (name: string): ChildParts => ({
    ...parts,
    name,
    workspaceRoot: host.workspaceRoot,
    daemonUrl: () => daemonUrlOf(host.controlPlane()),
    untilReady: async (signal) => {
      while (host.phase() === 'starting') if (!(await clock.sleep(readyLookMs, signal))) return
    },
    wish: () => wishOf(name),
    looks: looks(name),
    lend: async () => {
      const connector = find(name)
      return connector && lend(connector)
    },
    states: statesOf(parts, name),
  })
  const end = (name: string): void => {
    const life = lives.get(name)
    if (life === undefined) return
    lives.delete(name)
    const ending = life.child.end().finally(() => {
      if (endings.get(name) === ending) endings.delete(name)
    })
    endings.set(name, ending)
  }
  const reconcile = (name: string): void => {
    const connector = find(name)
    const key = connector && keyOf(connector)
    if (key === lives.get(name)?.key) return
    end(name)
    if (key !== undefined) lives.set(name, { key, child: createChild(partsOf(name), endings.get(name)) })
  }
  return {
    begin() {
      const undo = connectors.onChange(({ kind, name }) => {
        if (kind === 'external') reconcile(name)
      })
      for (const { name } of all()) reconcile(name)
      return async () => {
        undo()
        for (const name of lives.keys()) end(name)
        await Promise.all(endings.values())
      }
    },
  }
}
