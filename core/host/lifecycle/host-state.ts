/** What the host's parts share, and the one way in which a plugin is disabled. */
import type { RouteTable } from '../../http/routes/table.js'
import type { AnyPlugin } from '../../plugin/contract.js'
import type { Token } from '../../base/token.js'
import { programProblem } from '../../state/errors.js'
import { bounded } from '../bounded.js'
import type { Lists } from '../configuration/lists.js'
import type { Core } from '../context/context.js'
import { errors, ofList } from '../errors.js'
import type { Faults } from '../context/faults.js'
import type { Loaded } from '../load/load.js'
import { dependentsOf } from './order.js'
import type { Registry } from '../context/registry.js'
import type { PluginEntry } from './plugin-entry.js'

export interface HostOptions {
  readonly core: Core
  readonly loaded: readonly Loaded[]
  /** Services of core by their tokens. */
  readonly services: readonly (readonly [Token<unknown>, unknown])[]
  /** The plugin's parsed, frozen configuration; throws what is wrong with it. */
  readonly configure: (plugin: AnyPlugin) => unknown
  /** Lists of operators that are applied while the daemon runs. */
  readonly lists: Lists
  /** The server's table. */
  readonly routes: RouteTable
  /** Most milliseconds that one plugin may take to start, or to stop beyond what it waits for on purpose. */
  readonly patienceMs: number
  /** Aborts when the daemon is asked to stop: nobody waits for a start any more. */
  readonly asked?: AbortSignal | undefined
}

export interface HostState {
  readonly options: HostOptions
  readonly faults: Faults
  readonly registry: Registry
  readonly entries: readonly PluginEntry[]
  /** Those that may come up, in load order. */
  order: readonly PluginEntry[]
  /** The daemon no longer waits for plugins to start. */
  started: boolean
}

export const activePlugins = ({ order }: HostState): PluginEntry[] =>
  order.filter(({ state }) => state === 'registered' || state === 'ready')

/**
 * Undoes what a plugin registered and began. False if it took too long: then it is cut off and changes nothing more.
 */
export const closeScope = async ({ options, faults }: HostState, entry: PluginEntry): Promise<boolean> => {
  const { candidate, scope, stopMs } = entry
  const ms = options.patienceMs + stopMs
  try {
    await bounded(scope?.close() ?? Promise.resolve(), { clock: options.core.clock, ms, what: 'its stop' })
    return true
  } catch (error) {
    scope?.cut()
    faults.charge(candidate.id, 'stop', error)
    return false
  }
}

export interface Absence {
  readonly state: 'failed' | 'skipped'
  readonly reason: string
}

/** A required plugin stops the start; any other is only disabled. What failed is told where it is charged. */
export const disable = async (host: HostState, entry: PluginEntry, { state, reason }: Absence): Promise<void> => {
  const { options } = host
  entry.state = state
  entry.reason = reason
  await closeScope(host, entry)
  const { id, from, required } = entry.candidate
  const way = from === 'shipped' ? '' : '; holdfast serve --safe leaves third-party plugins out'
  if (required) throw errors.plugin_required({ details: { plugin: id, reason, way } })
  if (state === 'skipped') options.core.log.error(`plugin ${id} is left out: ${reason}`, { plugin: id })
}

const dependents = (host: HostState, entry: PluginEntry): PluginEntry[] => {
  if (entry.plugin === undefined) return []
  const plugins = activePlugins(host).flatMap(({ plugin }) => plugin ?? [])
  const lost = new Set(dependentsOf(entry.plugin, plugins).map(({ id }) => id))
  return activePlugins(host)
    .filter(({ candidate }) => lost.has(candidate.id))
    .toReversed()
}

export interface Failure {
  readonly where: string
  readonly error: unknown
}

/** A plugin failed: those that need it go first, then it. */
export const fail = async (host: HostState, entry: PluginEntry, { where, error }: Failure): Promise<void> => {
  const { id } = entry.candidate
  // What is wrong is a file and no code of the plugin (runtime-2).
  const invalid = ofList(error)
  if (entry.candidate.required && invalid !== undefined) throw invalid
  const ofProgram = programProblem(error)
  if (ofProgram !== undefined) throw ofProgram
  host.faults.charge(id, where, error)
  for (const other of dependents(host, entry))
    await disable(host, other, { state: 'skipped', reason: `needs ${id}, which failed` })
  await disable(host, entry, { state: 'failed', reason: host.faults.sentence(error) })
}
