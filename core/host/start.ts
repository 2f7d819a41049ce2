/** Repair, start, and the way back. */
import { bounded } from './bounded.js'
import { closeScope, fail, live, type Body } from './body.js'
import type { StartRun } from './context.js'
import { errors } from './errors.js'
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

const startOne = async (body: Body, slot: Slot): Promise<void> => {
  const { clock } = body.options.core
  const from = clock.elapsed()
  try {
    for (const run of slot.starts) await startRun(body, slot, run)
    slot.state = 'ready'
  } catch (error) {
    await fail(body, slot, { where: 'onStart', error })
  }
  slot.ms.start = clock.elapsed() - from
}

export const startAll = async (body: Body): Promise<void> => {
  for (const slot of body.order) if (slot.state === 'registered') await startOne(body, slot)
}

export const stopAll = async (body: Body): Promise<void> => {
  const cut: string[] = []
  for (const slot of live(body).toReversed()) {
    if (!(await closeScope(body, slot))) cut.push(slot.candidate.id)
    slot.state = 'stopped'
  }
  if (cut.length > 0) throw errors.plugins_cut({ details: { plugins: cut.join(', ') } })
}
