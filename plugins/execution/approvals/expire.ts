/** Approvals whose time is over. Nobody said no: the decision is the timeout's, and the model is told so. */
import type { ResolvedApproval } from '../sessions/contract.js'
import { digest } from '../../../core/plugin.js'
import { type Runs, type WaitingRun } from '../runs/contract.js'

/** Denies what a run still asks, all at once: its requests were made together. Nothing happens if none is open. */
export const expireApprovals = async (runs: Runs, run: WaitingRun): Promise<void> => {
  const resolutions = runs.openApprovals(run).map(({ id, input, input_digest }): ResolvedApproval => ({
    request_id: id,
    behavior: 'deny',
    decided_by: 'timeout',
    input_digest: input_digest ?? digest(input),
  }))
  if (resolutions.length > 0) await runs.decide({ run_id: run.run_id, resolutions })
}
