/**
 * The plugins' life: registered in the order of their needs, repaired,
 * started, and undone backwards. One that fails takes what needs it with it
 * and nothing else; only a required one stops the daemon's start.
 */
import type { HealthCheck, Warning } from '../../base/health.js'
import { takenWarnings } from '../context/taken-warnings.js'
import { sentence } from '../../base/text/command-text.js'
import { activePlugins, type HostState, type HostOptions } from './host-state.js'
import type { PluginReport } from '../contract.js'
import { createFaults, ownerOf } from '../context/faults.js'
import { watchMakers, type Suspects } from '../context/makers.js'
import { tellUnread, type UnreadPoint } from '../context/points.js'
import type { Loaded } from '../load/load.js'
import { registerAll } from './register.js'
import { createRegistry, type Registry } from '../context/registry.js'
import type { RepairOutcome } from './repair.js'
import { report, type PluginEntry } from './plugin-entry.js'
import { repairAll, startAll, stopAll } from './start.js'

export interface PluginHost {
  register(): Promise<void>
  /** Runs the repair steps; `writable` false only looks. */
  repair(writable: boolean): Promise<readonly RepairOutcome[]>
  start(): Promise<void>
  /** Stops the plugins backwards. Rejects with `plugins_cut` if one of them had to be cut off. */
  stop(): Promise<void>
  /** Most milliseconds that the plugins' stops wait on purpose, all together. */
  stopMs(): number
  reports(): readonly PluginReport[]
  warnings(): readonly Warning[]
  /** Charges a fault to a plugin. */
  fault(plugin: string, where: string, error: unknown): void
  /** Charges an error that nobody caught to the plugin whose code it came from; undefined if it is nobody's. */
  charge(where: string, error: unknown): string | undefined
  /** What can be told of one that is nobody's by its stack. */
  suspects(error: unknown): Suspects
  readonly registry: Registry
}

const createEntry = (loaded: Loaded): PluginEntry => ({
  candidate: loaded.candidate,
  plugin: loaded.ok ? loaded.plugin : undefined,
  scope: undefined,
  starts: [],
  state: 'loading',
  reason: undefined,
  stopMs: 0,
  ms: { load: loaded.ms, register: 0, start: 0 },
})

const look = ({ faults }: HostState, owner: string, { id, check }: HealthCheck): readonly Warning[] => {
  try {
    const found = check()
    if (faults.isShipped(owner)) return found
    return takenWarnings(found)
  } catch (error) {
    faults.charge(owner, `the health check ${id}`, error)
    return [
      {
        severity: 'warning',
        code: 'plugin_health_check_failed',
        message: `The health check ${id} of the plugin ${owner} failed.`,
        related_id: owner,
        action: 'See its fault in the log, and with: holdfast plugins list',
      },
    ]
  }
}

const mendOf = ({ candidate: { from } }: PluginEntry, state: 'failed' | 'skipped'): string => {
  if (state === 'skipped')
    return 'Mend what the sentence names, of which there may be a warning too, and start again: holdfast serve'
  return from === 'shipped'
    ? 'Correct the cause, of which the log says more, and start again: holdfast serve'
    : 'Mend what the sentence names, or its table in config/plugins.toml, and start again. ' +
        'To leave third-party ones out: holdfast serve --safe'
}

const complaint = (host: HostState, entry: PluginEntry): Warning[] => {
  const { id, state, reason, last_fault: last } = report(entry, host.faults)
  if (state === 'failed' || state === 'skipped')
    return [
      {
        severity: 'error',
        code: 'plugin_not_loaded',
        message: `The plugin ${id} is not loaded: ${reason ?? ''}`,
        related_id: id,
        action: mendOf(entry, state),
      },
    ]
  if (state === 'registered' && host.started)
    return [
      {
        severity: 'info',
        code: 'plugin_starting',
        message: `The plugin ${id} is still starting.`,
        related_id: id,
      },
    ]
  return state === 'degraded'
    ? [
        {
          severity: 'warning',
          code: 'plugin_degraded',
          message: `The plugin ${id} failed in ${last?.where ?? ''}.`,
          related_id: id,
          action:
            'It works on. Mend the cause and start again: this is told until then, also where nothing fails any ' +
            'more. See its fault in the log, and with: holdfast plugins list',
        },
      ]
    : []
}

/** Third-party plugins name points by texts that no compiler checks. */
const unreadWarning = (unread: UnreadPoint): Warning => ({
  severity: unread.meant === undefined ? 'info' : 'warning',
  code: 'contribution_unread',
  message: sentence(`The plugin ${unread.owner} ${tellUnread(unread)}`),
  related_id: unread.owner,
  action: 'Correct the name of the point in the plugin, or add the plugin that reads it, and start again.',
})

const warnings = (host: HostState): readonly Warning[] => [
  // What a check reads would look empty where the state could not be loaded.
  ...(host.options.core.state.health.loaded ? host.registry.checks() : []).flatMap(({ owner, value }) =>
    look(host, owner, value),
  ),
  ...host.entries.flatMap((entry) => complaint(host, entry)),
  ...(host.started ? host.registry.unread().map(unreadWarning) : []),
]

export const createHost = (options: HostOptions): PluginHost => {
  const owners = options.loaded.map(({ candidate }) => candidate)
  const faults = createFaults({ ...options.core, owners })
  const makers = watchMakers(owners)
  const registry = createRegistry(options.routes, (owner, error) => faults.charge(owner, 'a contribution', error))
  const host: HostState = {
    options,
    faults,
    registry,
    entries: options.loaded.map(createEntry),
    order: [],
    started: false,
  }
  for (const [token, service] of options.services) registry.provide('core', token, service)
  return {
    registry,
    register: () => registerAll(host),
    repair: (writable) => repairAll(host, writable),
    start: () => startAll(host),
    stop: () => stopAll(host).finally(makers.end),
    suspects: makers.suspects,
    stopMs: () => activePlugins(host).reduce((sum, { stopMs }) => sum + stopMs, 0),
    reports: () => host.entries.map((entry) => report(entry, faults)),
    warnings: () => warnings(host),
    fault: (plugin, where, error) => faults.charge(plugin, where, error),
    charge: (where, error) => {
      const owner = ownerOf(error, owners)
      if (owner !== undefined) faults.charge(owner, where, error)
      return owner
    },
  }
}
