/** What the host's parts share, and the one way in which a plugin is left out. */
import type { RouteTable } from '../http/table.js'
import type { AnyPlugin } from '../plugin.js'
import type { Token } from '../token.js'
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
  /** Most milliseconds that one plugin may take to start or to stop. */
  readonly patienceMs: number
}

export interface Body {
  readonly options: HostOptions
  readonly faults: Faults
  readonly registry: Registry
  readonly slots: readonly Slot[]
  /** Those that may come up, in load order. */
  order: readonly Slot[]
}

export const live = ({ order }: Body): Slot[] =>
  order.filter(({ state }) => state === 'registered' || state === 'ready')

/** A required plugin stops the start; any other is only left out. */
export const leaveOut = async (slot: Slot, state: 'failed' | 'skipped', reason: string): Promise<void> => {
  slot.state = state
  slot.reason = reason
  await slot.scope?.close()
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
  for (const other of dependents(body, slot)) await leaveOut(other, 'skipped', `needs ${id}, which failed`)
  await leaveOut(slot, 'failed', body.faults.sentence(error))
}
