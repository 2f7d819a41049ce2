/** What the host's parts share, and the one way in which a plugin is left out. */
import type { RouteTable } from '../http/table.js'
import type { AnyPlugin } from '../plugin.js'
import type { Token } from '../token.js'
import { bounded } from './bounded.js'
import type { Core } from './context.js'
import { errors } from './errors.js'
import type { Faults } from './faults.js'
import type { Loaded } from './load.js'
import { dependentsOf } from './order.js'
import type { Registry } from './registry.js'
import type { Slot } from './slot.js'

export interface HostOptions {
  readonly core: Core
  readonly loaded: readonly Loaded[]
  /** Services of core by their tokens. */
  readonly services: readonly (readonly [Token<unknown>, unknown])[]
  /** The plugin's parsed, frozen configuration; throws what is wrong with it. */
  readonly configure: (plugin: AnyPlugin) => unknown
  /** The server's table. */
  readonly routes: RouteTable
  /** Most milliseconds that one plugin may take to start, or to stop beyond what it waits for on purpose. */
  readonly patienceMs: number
}

export interface Body {
  readonly options: HostOptions
  readonly faults: Faults
  readonly registry: Registry
  readonly slots: readonly Slot[]
  /** Those that may come up, in load order. */
  order: readonly Slot[]
  /** The daemon no longer waits for plugins to start. */
  started: boolean
}

export const live = ({ order }: Body): Slot[] =>
  order.filter(({ state }) => state === 'registered' || state === 'ready')

/** Undoes what a plugin registered and began. False if it took too long: then it is cut off and changes nothing more. */
export const closeScope = async ({ options, faults }: Body, slot: Slot): Promise<boolean> => {
  const { candidate, scope, stopMs } = slot
  const ms = options.patienceMs + stopMs
  try {
    await bounded(scope?.close(), { clock: options.core.clock, ms, what: 'its stop' })
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

/** A required plugin stops the start; any other is only left out. */
export const leaveOut = async (body: Body, slot: Slot, { state, reason }: Absence): Promise<void> => {
  slot.state = state
  slot.reason = reason
  await closeScope(body, slot)
  if (slot.candidate.required) throw errors.plugin_required({ details: { plugin: slot.candidate.id, reason } })
}

const dependents = (body: Body, slot: Slot): Slot[] => {
  if (slot.plugin === undefined) return []
  const plugins = live(body).flatMap(({ plugin }) => plugin ?? [])
  const lost = new Set(dependentsOf(slot.plugin, plugins).map(({ id }) => id))
  return live(body)
    .filter(({ candidate }) => lost.has(candidate.id))
    .toReversed()
}

export interface Failure {
  readonly where: string
  readonly error: unknown
}

/** A plugin failed: those that need it go first, then it. */
export const fail = async (body: Body, slot: Slot, { where, error }: Failure): Promise<void> => {
  const { id } = slot.candidate
  body.faults.charge(id, where, error)
  for (const other of dependents(body, slot))
    await leaveOut(body, other, { state: 'skipped', reason: `needs ${id}, which failed` })
  await leaveOut(body, slot, { state: 'failed', reason: body.faults.sentence(error) })
}
