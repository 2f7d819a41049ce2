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

/** Once the daemon is asked to stop, nothing of a start begins any more, and nothing that it gave up is a fault. */
const isAsked = ({ options: { asked } }: HostState): boolean => asked?.aborted === true

/** What a plugin does at its start, as long as that may take. */
const patiently = <T>({ options }: HostState, work: Promise<T>, what: string): Promise<T> => {
  const { core, patienceMs: ms, asked } = options
  return bounded(work, { clock: core.clock, ms, what, asked })
}

/** The repair of a shipped plugin goes through records of years; that of another is no reason to wait for ever. */
const repairOne = async (host: HostState, step: OwnedStep, writable: boolean): Promise<readonly RepairOutcome[]> => {
  const isOurs = host.faults.isShipped(step.owner)
  const wait = (fix: Promise<void>): Promise<void> =>
    isOurs ? fix : patiently(host, Promise.resolve(fix), 'the repair')
  try {
    return [await runStep(step, { writable, wait })]
  } catch (error) {
    if (isAsked(host)) return []
    const entry = activePlugins(host).find(({ candidate }) => candidate.id === step.owner)
    if (entry !== undefined) await fail(host, entry, { where: `the repair step ${step.value.id}`, error })
    return []
  }
}

/** Runs every step that is still declared when its turn comes: a failed plugin takes its steps with it. */
export const repairAll = async (host: HostState, writable: boolean): Promise<readonly RepairOutcome[]> => {
  const outcomes: RepairOutcome[] = []
  for (const step of orderSteps(host.registry.repairs())) {
    if (!isAsked(host) && host.registry.repairs().includes(step))
      outcomes.push(...(await repairOne(host, step, writable)))
  }
  return outcomes
}

/** What is done at once needs no deadline. A start that comes too late is undone at once: the scope is closed then. */
const startRun = async (host: HostState, entry: PluginEntry, run: StartRun): Promise<void> => {
  const begun = run()
  if (begun === undefined) return
  if (typeof begun === 'function') return void entry.scope?.own(begun)
  const work = async (): Promise<void> => {
    const undo = await begun
    if (typeof undo === 'function') entry.scope?.own(undo)
  }
  await patiently(host, work(), 'onStart')
}

/** Its state may change meanwhile: by a stop, or because what it needs failed. */
const waits = (host: HostState, { state }: PluginEntry): boolean => state === 'registered' && !isAsked(host)

const startOne = async (host: HostState, entry: PluginEntry): Promise<void> => {
  const { clock } = host.options.core
  const from = clock.elapsed()
  try {
    for (const run of entry.starts) await startRun(host, entry, run)
    if (waits(host, entry)) entry.state = 'ready'
  } catch (error) {
    if (waits(host, entry)) await fail(host, entry, { where: 'onStart', error })
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
    if (waits(host, entry)) await startOne(host, entry)
  }
  for (const entry of host.order) {
    if (beside.has(entry)) begun.set(entry, startGuest(entry))
    else if (waits(host, entry)) await startOne(host, entry)
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
