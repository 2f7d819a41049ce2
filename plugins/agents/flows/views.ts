/** A flow as it is shown (flows-6). */
import { inTurns, type Caller } from '../../../core/plugin.js'
import type { FlowView } from './contract.js'
import { project, type Projection, type ProjectionParts } from './projection.js'
import type { FlowRecord } from './record.js'

const rowOf = (flow: FlowRecord, projection: Projection): FlowView => {
  const { flow_id, playbook_ref, session_id, run_id, created_at_ms, metadata, evidence_refs } = flow
  const { status, completed_at_ms, updated_at_ms, refs, is_cut, phases, checks } = projection
  return {
    flow_id,
    status,
    playbook_ref,
    session_id,
    run_id,
    primitive_refs: refs,
    ...(is_cut && { primitive_refs_truncated: true as const }),
    ...(phases.length > 0 && { phase_states: phases }),
    contract: { passed: checks.every(({ passed }) => passed), ...(checks.length > 0 && { checks }) },
    run_stream_url: `/v1/runs/${encodeURIComponent(run_id)}/stream`,
    created_at_ms,
    updated_at_ms,
    ...(completed_at_ms !== undefined && { completed_at_ms }),
    ...(metadata !== undefined && { metadata }),
    ...(evidence_refs.length > 0 && { evidence_refs }),
  }
}

/** A row of a list: without the run. */
export const flowRow = async (parts: ProjectionParts, flow: FlowRecord): Promise<FlowView> =>
  rowOf(flow, await inTurns(project(parts, flow)))

/** With its root run as it is. */
export const flowView = async (parts: ProjectionParts, flow: FlowRecord, caller?: Caller): Promise<FlowView> => {
  const row = await flowRow(parts, flow)
  const run = parts.runs.find(flow.run_id)
  return run === undefined ? row : { ...row, run: parts.runs.view(run, caller) }
}
