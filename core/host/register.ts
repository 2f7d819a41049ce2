/** Every plugin declares, in the order of needs. */
import type { AnyPlugin } from '../plugin.js'
import { unsafeCast } from '../schema.js'
import { fail, leaveOut, type Body } from './body.js'
import { openContext } from './context.js'
import { errors } from './errors.js'
import { isPromise } from './faults.js'
import { needed, orderByNeeds, wanted } from './order.js'
import type { Registry } from './registry.js'
import { createScope } from './scope.js'
import type { Slot } from './slot.js'

const servicesFor = (plugin: AnyPlugin, registry: Registry): Readonly<Record<string, unknown>> => {
  const needs = needed(plugin).map(([name, token]) => [name, registry.service(token)] as const)
  const wants = wanted(plugin).map(([name, token]) => [name, () => registry.service(token)] as const)
  return Object.freeze(Object.fromEntries<unknown>([...needs, ...wants]))
}

const declare = ({ options, faults, registry }: Body, slot: Slot, plugin: AnyPlugin): void => {
  const scope = createScope((error) => faults.charge(plugin.id, 'an undo', error))
  slot.scope = scope
  const config: unknown = options.configure(plugin)
  slot.stopMs = plugin.stopMs?.(unsafeCast(config)) ?? 0
  const { context, starts, seal } = openContext({
    plugin,
    config,
    core: options.core,
    scope,
    registry,
    faults,
  })
  const outcome: unknown = plugin.register(unsafeCast(context), unsafeCast(servicesFor(plugin, registry)))
  if (isPromise(outcome)) {
    outcome.catch((error: unknown) => faults.charge(plugin.id, 'register', error))
    throw errors.plugin_refused({ details: { reason: 'register must not be asynchronous: work belongs into onStart' } })
  }
  seal()
  slot.starts = starts
  slot.state = 'registered'
}

const registerOne = async (body: Body, slot: Slot, plugin: AnyPlugin): Promise<void> => {
  const lacking = needed(plugin).find(([, token]) => body.registry.provider(token) === undefined)
  if (lacking !== undefined)
    return leaveOut(body, slot, { state: 'skipped', reason: `needs ${lacking[1].token}, whose plugin did not come up` })
  const { clock } = body.options.core
  const from = clock.elapsed()
  try {
    declare(body, slot, plugin)
  } catch (error) {
    await fail(body, slot, { where: 'register', error })
  }
  slot.ms.register = clock.elapsed() - from
}

/** Leaves out what could not be imported and what bears a taken id. */
const admit = async (body: Body): Promise<Slot[]> => {
  const seen = new Set<string>()
  for (const [at, slot] of body.slots.entries()) {
    const entry = body.options.loaded[at]
    if (seen.has(slot.candidate.id))
      await leaveOut(body, slot, { state: 'skipped', reason: `the id ${slot.candidate.id} is taken by another plugin` })
    else if (entry !== undefined && !entry.ok) await fail(body, slot, { where: 'its import', error: entry.error })
    seen.add(slot.candidate.id)
  }
  return body.slots.filter(({ state }) => state === 'loading')
}

const arrange = async (body: Body): Promise<void> => {
  const admitted = await admit(body)
  const bySlot = new Map(admitted.map((slot) => [slot.candidate.id, slot]))
  const core = new Set(body.options.services.map(([{ token }]) => token))
  const { ordered, refused } = orderByNeeds(
    admitted.flatMap(({ plugin }) => plugin ?? []),
    core,
  )
  body.order = ordered.flatMap(({ id }) => bySlot.get(id) ?? [])
  for (const { id, reason } of refused) {
    const slot = bySlot.get(id)
    if (slot !== undefined) await leaveOut(body, slot, { state: 'skipped', reason })
  }
}

export const registerAll = async (body: Body): Promise<void> => {
  await arrange(body)
  for (const slot of body.order) if (slot.plugin !== undefined) await registerOne(body, slot, slot.plugin)
}
