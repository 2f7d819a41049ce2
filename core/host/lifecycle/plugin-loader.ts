/** From the candidates to imported plugins whose flags are known, and the watch over their files. */
import type { AnyKit, ShippedPlugin } from '../../plugin/contract.js'
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/text/log.js'
import { shippedCandidate } from '../load/candidate.js'
import { mayHaveThirdParty, thirdParty } from '../load/candidates.js'
import {
  checkFiles,
  checkFlags,
  createConfigure,
  refuseUnknownFlags,
  type ConfigureOptions,
} from '../configuration/configure.js'
import type { Lists } from '../configuration/lists.js'
import { loadAll, type Loaded, type LoadBound } from '../load/load.js'
import type { PluginHost } from './host.js'
import { thrownText } from '../../base/text/thrown.js'

export interface PluginLoaderOptions extends Omit<ConfigureOptions, 'root'> {
  readonly shipped: readonly ShippedPlugin[]
  readonly kit: AnyKit
  /** True: third-party plugins are left out. */
  readonly safe: boolean
  readonly clock: Clock
  readonly log: Log
  /** Most milliseconds that one plugin may take to start or stop. */
  readonly patienceMs: number
  /** Ends the wait for third-party code when it aborts: the daemon is asked to stop. */
  readonly asked?: AbortSignal | undefined
}

/** All plugins are imported at once, on a machine that may have much else to do. */
const importPatience = 6

const boundOf = ({ clock, patienceMs }: PluginLoaderOptions): LoadBound => ({ clock, ms: importPatience * patienceMs })

/**
 * What is wrong with the command line or with files of `config/` is said before the root is touched, also by `check`,
 * which throws what is wrong with those that belong to no plugin.
 */
export const loadShipped = async (
  options: PluginLoaderOptions,
  root: string,
  check: () => void,
): Promise<readonly Loaded[]> => {
  const { disk, safe, flags, taken } = options
  const shipped = await loadAll(
    options.shipped.map((entry) => shippedCandidate(entry, options.kit)),
    boundOf(options),
  )
  checkFlags(options, shipped)
  checkFiles({ ...options, root }, shipped, check)
  if (safe || !mayHaveThirdParty(disk, root)) refuseUnknownFlags(flags, taken, shipped)
  return shipped
}

/** Third-party code is looked at only after the root has been checked and taken. Returns all plugins. */
export const loadThirdParty = async (
  options: PluginLoaderOptions,
  root: string,
  shipped: readonly Loaded[],
): Promise<readonly Loaded[]> => {
  const { safe, flags, taken, asked } = options
  const added = await loadAll(safe ? [] : await thirdParty({ ...options, root }), { ...boundOf(options), asked })
  checkFlags(options, added)
  const loaded = [...shipped, ...added]
  refuseUnknownFlags(flags, taken, loaded)
  return loaded
}

export interface Watched {
  readonly root: string
  /** What `configContent` said when the daemon read its configuration. */
  readonly before: ReadonlyMap<string, string>
  readonly lists: Lists
  readonly loaded: readonly Loaded[]
  readonly host: PluginHost
  /** Throws what is wrong with the files that belong to no plugin. */
  readonly check: () => void
}

interface FileFault {
  readonly plugin: string
  readonly error: unknown
}

/** What is wrong with the files of plugins. */
const faultsOfFiles = (options: ConfigureOptions, loaded: readonly Loaded[]): readonly FileFault[] => {
  const configure = createConfigure(options)
  return loaded.flatMap((entry) => {
    try {
      if (entry.ok) configure(entry.plugin)
      return []
    } catch (error) {
      return [{ plugin: entry.candidate.id, error }]
    }
  })
}

/** Nothing of the start waits for this; the returned undo does. */
export const watchFiles = (
  options: PluginLoaderOptions,
  { root, before, lists, loaded, host, check: checkOthers }: Watched,
): (() => Promise<void>) => {
  const { disk, clock, log, safe, environment } = options
  const begin = async (): Promise<() => Promise<void>> => {
    const { watchConfig } = await import('../configuration/config-watch.js')
    const { strangeVariables } = await import('../configuration/variables.js')
    const { thirdPartyCandidates } = await import('../load/third-party.js')
    const faults = (): readonly FileFault[] => faultsOfFiles({ ...options, root }, loaded)
    // That a plugin did not come up is told already.
    const failed = new Set(host.reports().flatMap(({ id, reason }) => (reason === undefined ? [] : [id])))
    const known = new Set(faults().flatMap(({ plugin, error }) => (failed.has(plugin) ? [thrownText(error)] : [])))
    const check = (): void => {
      checkOthers()
      if (!safe) thirdPartyCandidates({ ...options, root })
      for (const { error } of faults()) if (!known.has(thrownText(error))) throw error
    }
    const plugins = loaded.map(({ candidate }) => candidate.id)
    const complete = loaded.every(({ ok }) => ok) && !(safe && mayHaveThirdParty(disk, root))
    const lasting = strangeVariables({ environment, loaded, complete })
    const watching = await watchConfig({ disk, clock, root, plugins, before, lists, log, check, lasting })
    const forget = host.registry.health('core', watching.health)
    return () => {
      forget()
      return watching.close()
    }
  }
  const begun = begin().catch((error: unknown) => log.warn('config/ cannot be watched', { error }))
  return async () => {
    const close = await begun
    await close?.()
  }
}
