/** The programs of connectors that have one: begun, begun anew when a connector changes, and ended (external-50). */
import { canonical, digest, type Clock, type HostView, type Log, type Supervised } from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import type { ChildParts } from './child-parts.js'
import { sharedToken } from '../setup/kind.js'
import type { ExternalConnector } from '../setup/connector.js'
import { childGraceMs, createChild, type Child, type ChildStates, type LifeParts } from './child.js'
import { looksOf } from './looks.js'

export interface ChildrenParts extends ChildParts {
  readonly clock: Clock
  readonly log: Log
  readonly supervised: Supervised
  readonly redact: (text: string) => string
  readonly guard: (value: string) => () => void
  readonly host: Pick<HostView, 'workspaceRoot' | 'controlPlane' | 'phase'>
  readonly slots: Pick<SecretSlots, 'find'>
}

export interface Children {
  /** Begins all; its undo ends all, with every process of theirs. */
  begin(): () => Promise<void>
  /** True of a connector whose program is starting or waits for its next start. */
  isDown(name: string): boolean
}
/** For a stop of all: SIGTERM, SIGKILL, and a last look. */
export const childStopMs = childGraceMs + 6_000

/** How often it is looked whether the daemon listens: programs need its address. */
const readyLookMs = 20

/** Where programs of this machine reach the daemon. */
export const daemonUrlOf = ({
  base_url,
  bind_is_unspecified,
}: Pick<ReturnType<HostView['controlPlane']>, 'base_url' | 'bind_is_unspecified'>): string => {
  if (!bind_is_unspecified) return base_url
  const url = new URL(base_url)
  url.hostname = url.hostname.includes(':') ? '[::1]' : '127.0.0.1'
  return url.origin
}

/** Secrets that the program of a connector may ask for. */
const lentBy = ({ settings }: ExternalConnector): readonly string[] =>
  Object.values(settings.child_process?.credential_slots ?? {})

/**
 * Another one when anything of it is another: its settings, its token, which is not kept, and what it may ask for: a
 * lease is short, so a program that has fetched a value does not learn of the next one.
 */
const keyOf = (connector: ExternalConnector, slots: ChildrenParts['slots']): string => {
  const { settings } = connector
  try {
    const versions = lentBy(connector).map((ref) => slots.find(ref)?.details.version ?? null)
    return digest(canonical([settings, connector.secret(sharedToken) ?? null, versions]))
  } catch {
    return 'its secret cannot be used'
  }
}

const action =
  'Mend its program, or its settings. What it writes on standard error is in the log of the daemon at the level debug.'

/** What ends a sentence of ours: programs end what they say as they like. */
const stop = (cause: string): string => cause.replace(/[.\s]*$/u, '.')

/** How a program does, as the health of its connector. */
const statesOf = ({ connectors, counts }: ChildrenParts, name: string): ChildStates => {
  let last: (() => void) | undefined
  const trouble = (state: 'degraded' | 'deaf', cause: string, what = action): void => {
    last = () => connectors.trouble('external', name, { state, cause, action: what })
    last()
  }
  return {
    starting: () => trouble('degraded', 'Its program is starting.', 'Wait: it has 20 s to be ready.'),
    ready() {
      last = undefined
      connectors.well('external', name)
    },
    again: () => last?.(),
    degraded: (cause) => trouble('degraded', stop(`Its program runs, and ${cause}`)),
    waiting: (cause, wait_ms) =>
      trouble(
        'deaf',
        `${stop(`Its program does not run: ${cause}`)} It is started again in ${(wait_ms / 1000).toFixed(1)} s.`,
      ),
    restarted: () => counts.add(name, 'child_restart'),
  }
}

/** What one program is started, watched and told with. */
const lifeOf = (parts: ChildrenParts, name: string): LifeParts => {
  const { clock, log, host, kind, connectors, credentials, manifests } = parts
  const find = (): ExternalConnector | undefined => connectors.find(kind, name)
  return {
    ...parts,
    name,
    workspaceRoot: host.workspaceRoot,
    daemonUrl: () => daemonUrlOf(host.controlPlane()),
    untilMay: async (signal) => {
      while (host.phase() === 'starting') if (!(await clock.sleep(readyLookMs, signal))) return
    },
    async wish() {
      const connector = find()
      const { child_process: child, base_url = '' } = connector?.settings ?? {}
      if (connector === undefined || child === undefined) return undefined
      manifests.forget(name)
      const shared_token = connector.secret(sharedToken)
      return { base_url, child, shared_token, lent: await credentials.begin(connector) }
    },
    async over() {
      manifests.forget(name)
      await credentials
        .end(name)
        .catch((error: unknown) => log.error('a lease could not be revoked', { connector: name, error }))
    },
    looks: looksOf(parts, name, find),
    states: statesOf(parts, name),
  }
}

export const createChildren = (parts: ChildrenParts): Children => {
  const { kind, connectors, slots } = parts
  const lives = new Map<string, { readonly key: string; readonly child: Child }>()
  /** Of those that are going, by name: the next one waits for it. */
  const endings = new Map<string, Promise<void>>()
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
    const connector = connectors.find(kind, name)
    const key = connector?.settings.mode === 'child_process' ? keyOf(connector, slots) : undefined
    // Whoever tells of a change that is none has forgotten what was wrong.
    if (key === lives.get(name)?.key) return lives.get(name)?.child.tellAgain()
    end(name)
    if (key !== undefined) lives.set(name, { key, child: createChild(lifeOf(parts, name), endings.get(name)) })
  }
  return {
    isDown: (name) => lives.get(name)?.child.isDown() === true,
    begin() {
      const quiet = connectors.onChange(({ kind: changed, name }) => {
        if (changed === 'external') reconcile(name)
      })
      for (const { name } of connectors.all(kind)) reconcile(name)
      return async () => {
        quiet()
        for (const name of lives.keys()) end(name)
        await Promise.all(endings.values())
      }
    },
  }
}
