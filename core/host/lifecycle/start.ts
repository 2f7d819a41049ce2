/** Repair, start and stop. */
import { within } from '../../base/within.js'
import { bounded } from '../bounded.js'
import { activePlugins, closeScope, fail, type HostState } from './host-state.js'
import type { StartRun } from '../context/context.js'
import { tellUnread } from '../context/points.js'
import { errors } from '../errors.js'
import { needed } from './order.js'
import { orderSteps, runStep, type OwnedStep, type RepairOutcome } from './repair.js'
import type { PluginEntry } from './plugin-entry.js'

const repairOne = async (host: HostState, step: OwnedStep, writable: boolean): Promise<readonly RepairOutcome[]> => {
  try {
    return [await runStep(step, writable)]
  } catch (error) {
    const entry = activePlugins(host).find(({ candidate }) => candidate.id === step.owner)
    if (entry !== undefined) await fail(host, entry, { where: `the repair step ${step.value.id}`, error })
    return []
  }
}

/** Runs every step that is still declared when its turn comes: a failed plugin takes its steps with it. */
export const repairAll = async (host: HostState, writable: boolean): Promise<readonly RepairOutcome[]> => {
  const outcomes: RepairOutcome[] = []
  for (const step of orderSteps(host.registry.repairs())) {
    if (host.registry.repairs().includes(step)) outcomes.push(...(await repairOne(host, step, writable)))
  }
  return outcomes
}

/** What is done at once needs no deadline. A start that comes too late is undone at once: the scope is closed then. */
const startRun = async ({ options }: HostState, entry: PluginEntry, run: StartRun): Promise<void> => {
  const begun = run()
  if (begun === undefined) return
  if (typeof begun === 'function') return void entry.scope?.own(begun)
  const work = async (): Promise<void> => {
    const undo = await begun
    if (typeof undo === 'function') entry.scope?.own(undo)
  }
  await bounded(work(), { clock: options.core.clock, ms: options.patienceMs, what: 'onStart' })
}

/** Its state may change meanwhile: by a stop, or because what it needs failed. */
const waits = ({ state }: PluginEntry): boolean => state === 'registered'

const startOne = async (host: HostState, entry: PluginEntry): Promise<void> => {
  const { clock } = host.options.core
  const from = clock.elapsed()
  try {
    for (const run of entry.starts) await startRun(host, entry, run)
    if (waits(entry)) entry.state = 'ready'
  } catch (error) {
    if (waits(entry)) await fail(host, entry, { where: 'onStart', error })
  }
  entry.ms.start = clock.elapsed() - from
}

const needsOf = (host: HostState, { plugin }: PluginEntry): PluginEntry[] => {
  const owners = new Set(plugin === undefined ? [] : needed(plugin).map(([, token]) => host.registry.provider(token)))
  return host.order.filter(({ candidate }) => owners.has(candidate.id))
}

/** Plugins that the daemon does not wait for: neither shipped nor required, nor needed by one that is. */
const guests = (host: HostState): ReadonlySet<PluginEntry> => {
  const found = new Set(host.order.filter(({ candidate }) => candidate.from !== 'shipped' && !candidate.required))
  for (const entry of host.order.toReversed())
    if (!found.has(entry)) for (const other of needsOf(host, entry)) found.delete(other)
  return found
}

/** Time that guests have before the daemon listens without them, milliseconds. */
const courtesyMs = 1000

/** In load order. Guests start beside the others, each after what it needs, and each within its own deadline. */
export const startAll = async (host: HostState): Promise<void> => {
  const { clock } = host.options.core
  const beside = guests(host)
  const begun = new Map<PluginEntry, Promise<void>>()
  const startGuest = async (entry: PluginEntry): Promise<void> => {
    await Promise.all(needsOf(host, entry).map((other) => begun.get(other)))
    if (waits(entry)) await startOne(host, entry)
  }
  for (const entry of host.order) {
    if (beside.has(entry)) begun.set(entry, startGuest(entry))
    else if (waits(entry)) await startOne(host, entry)
  }
  await within(clock, courtesyMs, Promise.all(begun.values()))
  host.started = true
  logUnread(host)
}

const logUnread = ({ registry, options: { core } }: HostState): void => {
  for (const unread of registry.unread()) {
    const { owner: plugin, point, meant } = unread
    core.log[meant === undefined ? 'info' : 'warn'](tellUnread(unread), { plugin, point })
  }
}

export const stopAll = async (host: HostState): Promise<void> => {
  const cut: string[] = []
  for (const entry of activePlugins(host).toReversed()) {
    if (!(await closeScope(host, entry))) cut.push(entry.candidate.id)
    entry.state = 'stopped'
  }
  if (cut.length > 0) throw errors.plugins_cut({ details: { plugins: cut.join(', ') } })
}
