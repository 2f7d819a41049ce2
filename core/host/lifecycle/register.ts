/** Every plugin declares, in the order of needs. */
import type { AnyPlugin } from '../../plugin/contract.js'
import { unsafeCast } from '../../base/schema.js'
import { disable, fail, type HostState } from './host-state.js'
import { openContext } from '../context/context.js'
import { errors } from '../errors.js'
import { isPromise } from '../context/faults.js'
import { misspelt, needed, orderByNeeds, wanted } from './order.js'
import type { Registry } from '../context/registry.js'
import { createScope } from '../context/scope.js'
import type { PluginEntry } from './plugin-entry.js'

const servicesFor = (plugin: AnyPlugin, registry: Registry): Readonly<Record<string, unknown>> => {
  const needs = needed(plugin).map(([name, token]) => [name, registry.service(token)] as const)
  const wants = wanted(plugin).map(([name, token]) => [name, () => registry.service(token)] as const)
  return Object.freeze(Object.fromEntries<unknown>([...needs, ...wants]))
}

/** The whole stop waits for it, so it is a time. */
const longestStopMs = 86_400_000
const stopMsOf = (plugin: AnyPlugin, config: unknown): number => {
  const ms: unknown = plugin.stopMs?.(config) ?? 0
  if (typeof ms === 'number' && ms >= 0 && ms <= longestStopMs) return ms
  throw errors.plugin_refused({ details: { reason: `stopMs must give milliseconds, from 0 to ${longestStopMs}` } })
}

const declare = ({ options, faults, registry }: HostState, entry: PluginEntry, plugin: AnyPlugin): void => {
  const scope = createScope((error) => faults.charge(plugin.id, 'an undo', error))
  entry.scope = scope
  const config: unknown = options.configure(plugin)
  entry.stopMs = stopMsOf(plugin, config)
  const { context, starts, seal } = openContext({
    plugin,
    config,
    core: options.core,
    scope,
    registry,
    faults,
    lists: options.lists,
  })
  const outcome: unknown = plugin.register(context, unsafeCast(servicesFor(plugin, registry)))
  if (isPromise(outcome)) {
    outcome.catch((error: unknown) => faults.charge(plugin.id, 'register', error))
    throw errors.plugin_refused({ details: { reason: 'register must not be asynchronous: work belongs into onStart' } })
  }
  seal()
  entry.starts = starts
  entry.state = 'registered'
}

const registerOne = async (host: HostState, entry: PluginEntry, plugin: AnyPlugin): Promise<void> => {
  const lacking = needed(plugin).find(([, token]) => host.registry.provider(token) === undefined)
  if (lacking !== undefined)
    return disable(host, entry, { state: 'skipped', reason: `needs ${lacking[1].token}, whose plugin did not come up` })
  const { clock } = host.options.core
  const from = clock.elapsed()
  try {
    declare(host, entry, plugin)
  } catch (error) {
    await fail(host, entry, { where: 'register', error })
  }
  entry.ms.register = clock.elapsed() - from
}

/** Disables what could not be imported and what bears a taken id. */
const admit = async (host: HostState): Promise<PluginEntry[]> => {
  const seen = new Set<string>()
  for (const [at, entry] of host.entries.entries()) {
    const loaded = host.options.loaded[at]
    if (seen.has(entry.candidate.id))
      await disable(host, entry, {
        state: 'skipped',
        reason: `the id ${entry.candidate.id} is taken by another plugin`,
      })
    else if (loaded !== undefined && !loaded.ok) await fail(host, entry, { where: 'its import', error: loaded.error })
    seen.add(entry.candidate.id)
  }
  return host.entries.filter(({ state }) => state === 'loading')
}

const arrange = async (host: HostState): Promise<void> => {
  const admitted = await admit(host)
  const byId = new Map(admitted.map((entry) => [entry.candidate.id, entry]))
  const core = new Set(host.options.services.map(([{ token }]) => token))
  const plugins = admitted.flatMap(({ plugin }) => plugin ?? [])
  const { ordered, refused } = orderByNeeds(plugins, core)
  for (const { id, reason } of misspelt(plugins, core))
    host.options.core.log.warn(`plugin ${id} ${reason}`, { plugin: id })
  host.order = ordered.flatMap(({ id }) => byId.get(id) ?? [])
  for (const { id, reason } of refused) {
    const entry = byId.get(id)
    if (entry !== undefined) await disable(host, entry, { state: 'skipped', reason })
  }
}

export const registerAll = async (host: HostState): Promise<void> => {
  await arrange(host)
  for (const entry of host.order) if (entry.plugin !== undefined) await registerOne(host, entry, entry.plugin)
}
