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

/** Rejects with `flow_not_found` and `flow_state_conflict`. */
export const cancelFlow = async (
  parts: SettleParts & Pick<Settling, 'settle'>,
  flow_id: string,
): Promise<FlowRecord> => {
  const { store } = parts
  for (let round = 0; round < mostRounds; round += 1) {
    const flow = store.get(flow_id)
    const { status } = flow.settled ?? {}
    const { scope, ...now } = await inTurns(look(parts, flow))
    if (scope.open.length === 0) {
      const end = status ?? now.status
      if (round === 0 && end !== 'cancelled')
        throw flowErrors.flow_state_conflict({ details: { flow_id, status: end } })
      break
    }
    for (const run_id of scope.open) await cancelRun(parts, run_id)
  }
  await parts.settle(flow_id)
  return store.get(flow_id)
}
