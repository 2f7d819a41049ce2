/** A run as those see it who sent its event: what the shape needs, and nothing else of the daemon. */
import type { RunRecord, RunView } from '../../execution/runs/contract.js'

/** No outputs, targets, metadata, errors or models. */
export const outsiderView = (run: RunRecord): RunView => {
  const { run_id, session_id, agent_id, kind, status, submitted_at_ms, updated_at_ms } = run
  const { source_plugin, source_kind, actor_id } = run
  const request = { source_plugin, source_kind, actor_id }
  return { run_id, session_id, agent_id, kind, status, submitted_at_ms, updated_at_ms, request }
}
