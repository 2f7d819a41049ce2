/** Repair, start, and the way back. */
import { bounded } from './bounded.js'
import { closeScope, fail, live, type Body } from './body.js'
import type { StartRun } from './context.js'
import { errors } from './errors.js'
import { needed } from './order.js'
import { orderSteps, runStep, type OwnedStep, type RepairOutcome } from './repair.js'
import type { Slot } from './slot.js'

const repairOne = async (body: Body, step: OwnedStep, writable: boolean): Promise<readonly RepairOutcome[]> => {
  try {
    return [await runStep(step, writable)]
  } catch (error) {
    const slot = live(body).find(({ candidate }) => candidate.id === step.owner)
    if (slot !== undefined) await fail(body, slot, { where: `the repair step ${step.value.id}`, error })
    return []
  }
}

/** Runs every step that is still declared when its turn comes: a failed plugin takes its steps with it. */
export const repairAll = async (body: Body, writable: boolean): Promise<readonly RepairOutcome[]> => {
  const outcomes: RepairOutcome[] = []
  for (const step of orderSteps(body.registry.repairs())) {
    if (body.registry.repairs().includes(step)) outcomes.push(...(await repairOne(body, step, writable)))
  }
  return outcomes
}

/** A start that comes too late is undone at once, because the scope is closed then. */
const startRun = ({ options }: Body, slot: Slot, run: StartRun): Promise<void> => {
  const work = async (): Promise<void> => {
    const undo = await run()
    if (typeof undo === 'function') slot.scope?.own(undo)
  }
  return bounded(work(), { clock: options.core.clock, ms: options.patienceMs, what: 'onStart' })
}

/** Its state may change meanwhile: by a stop, or because what it needs failed. */
const waits = ({ state }: Slot): boolean => state === 'registered'

const startOne = async (body: Body, slot: Slot): Promise<void> => {
  const { clock } = body.options.core
  const from = clock.elapsed()
  try {
    for (const run of slot.starts) await startRun(body, slot, run)
    if (waits(slot)) slot.state = 'ready'
  } catch (error) {
    if (waits(slot)) await fail(body, slot, { where: 'onStart', error })
  }
  slot.ms.start = clock.elapsed() - from
}

const needsOf = (body: Body, { plugin }: Slot): Slot[] => {
  const owners = new Set(plugin === undefined ? [] : needed(plugin).map(([, token]) => body.registry.provider(token)))
  return body.order.filter(({ candidate }) => owners.has(candidate.id))
}

/** Plugins that the daemon does not wait for: neither shipped nor required, nor needed by one that is. */
const guests = (body: Body): ReadonlySet<Slot> => {
  const found = new Set(body.order.filter(({ candidate }) => candidate.from !== 'shipped' && !candidate.required))
  for (const slot of body.order.toReversed())
    if (!found.has(slot)) for (const other of needsOf(body, slot)) found.delete(other)
  return found
}

/** Time that guests have before the daemon listens without them, milliseconds. */
const courtesyMs = 1000

/** In load order. Guests start beside the others, each after what it needs, and each within its own deadline. */
export const startAll = async (body: Body): Promise<void> => {
  const { clock } = body.options.core
  const beside = guests(body)
  const begun = new Map<Slot, Promise<void>>()
  const startGuest = async (slot: Slot): Promise<void> => {
    await Promise.all(needsOf(body, slot).map((other) => begun.get(other)))
    if (waits(slot)) await startOne(body, slot)
  }
  for (const slot of body.order) {
    if (beside.has(slot)) begun.set(slot, startGuest(slot))
    else if (waits(slot)) await startOne(body, slot)
  }
  const late = new AbortController()
  await Promise.race([Promise.all(begun.values()), clock.sleep(courtesyMs, late.signal)])
  late.abort()
  body.started = true
}

export const stopAll = async (body: Body): Promise<void> => {
  const cut: string[] = []
  for (const slot of live(body).toReversed()) {
    if (!(await closeScope(body, slot))) cut.push(slot.candidate.id)
    slot.state = 'stopped'
  }
  if (cut.length > 0) throw errors.plugins_cut({ details: { plugins: cut.join(', ') } })
}
