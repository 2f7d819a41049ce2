/** Cancelling a flow: its root run, then whatever else still works for it (flows-13). */
import { inTurns, Problem } from '../../../core/plugin.js'
import { runErrors } from '../../execution/runs/contract.js'
import { flowErrors } from './errors.js'
import { look } from './projection.js'
import type { FlowRecord } from './record.js'
import type { Settling, SettleParts } from './settle.js'

/** A run may start agents until it has ended. */
const mostRounds = 5

/** One that has ended by itself meanwhile stays as it ended. */
const cancelRun = async ({ runs }: SettleParts, run_id: string): Promise<void> => {
  try {
    await runs.cancel(run_id)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== runErrors.run_state_conflict.code) throw error
  }
}

/** Cancels runs of a flow until none is open; false if none was. */
const cancelRuns = async (parts: SettleParts, flow_id: string): Promise<boolean> => {
  for (let round = 0; round < mostRounds; round += 1) {
    const { open } = (await inTurns(look(parts, parts.store.get(flow_id)))).scope
    if (open.length === 0) return round > 0
    for (const run_id of open) await cancelRun(parts, run_id)
  }
  return true
}

/** One that is not over by that, because it waits for evidence or has open tasks, is over because somebody says so. */
const cancelRest = ({ store }: SettleParts, flow_id: string): Promise<void> =>
  store.state.commit((tx) => {
    const flow = store.get(flow_id)
    if (flow.settled === undefined && flow.cancelled_at_ms === undefined)
      store.change(tx, flow, { cancelled_at_ms: tx.now })
  })

/** Rejects with `flow_not_found` and `flow_state_conflict`. */
export const cancelFlow = async (
  parts: SettleParts & Pick<Settling, 'settle'>,
  flow_id: string,
): Promise<FlowRecord> => {
  const { store } = parts
  await parts.settle(flow_id)
  const { settled } = store.get(flow_id)
  const stopped = await cancelRuns(parts, flow_id)
  if (settled !== undefined && !stopped && settled.status !== 'cancelled')
    throw flowErrors.flow_state_conflict({ details: { flow_id, status: settled.status } })
  await parts.settle(flow_id)
  await cancelRest(parts, flow_id)
  await parts.settle(flow_id)
  return store.get(flow_id)
}
