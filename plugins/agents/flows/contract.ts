/** Work by a playbook: a root run and all that follows from it. Rules: docs/rules/flows.md. */
import {
  array,
  boolean,
  defaulted,
  doc,
  enums,
  IdempotencyKey,
  jsonObject,
  literal,
  named,
  object,
  optional,
  rule,
  string,
  timestamp,
  type Infer,
} from '../../../core/plugin.js'
import { RunView, SubmitInputRequest } from '../../execution/runs/contract.js'
import { SessionId } from '../../execution/sessions/contract.js'
import { EvidenceRef, PlaybookRef } from '../playbooks/contract.js'
import { ContractCheck, FlowEvidence, PhaseState, PrimitiveRefs } from './record.js'
import { flowStatuses } from './status.js'

/** Problems of flows, for plugins that name them. */
export { flowErrors } from './errors.js'

const mostMetadata = 65_536
/** Pieces of evidence of one request. */
export const mostEvidence = 100
/** An id that people choose, which is a part of paths. */
export const FlowId = string({
  min: 1,
  max: 200,
  pattern: '^[^\\s/\\\\\\p{Cc}]*[^\\s./\\\\\\p{Cc}][^\\s/\\\\\\p{Cc}]*$',
  told: 'must be an id without blanks and slashes, and not dots alone',
})

/** The members of a start that are not the session. */
const startFields = {
  flow_id: optional(doc(FlowId, 'Made by the daemon when absent.')),
  idempotency_key: IdempotencyKey,
  playbook_ref: PlaybookRef,
  request: doc(SubmitInputRequest, 'What the root run is told.'),
  metadata: optional(
    rule(
      jsonObject(),
      `must have at most ${mostMetadata} bytes as JSON`,
      (value) => Buffer.byteLength(JSON.stringify(value)) <= mostMetadata,
    ),
  ),
  evidence_refs: defaulted(array(EvidenceRef, { max: mostEvidence }), []),
}
/** A flow that is wanted (flows-1). */
export const StartFlowRequest = named('StartFlowRequest', object({ ...startFields, session_id: SessionId }))
/** The value form of `StartFlowRequest`. */
export type StartFlowRequest = Infer<typeof StartFlowRequest>
/** The same in a schedule, whose session it is (flows-15). */
export const ScheduledFlow = object({ ...startFields, session_id: optional(SessionId) })

/** A flow as it is shown; members that are empty are left out (flows-6). */
export const FlowView = named(
  'FlowView',
  object({
    flow_id: string(),
    status: enums(flowStatuses),
    playbook_ref: PlaybookRef,
    session_id: string(),
    run_id: optional(doc(string(), 'The root run.')),
    primitive_refs: PrimitiveRefs,
    primitive_refs_truncated: optional(doc(literal(true), 'Present if there is more than is listed.')),
    phase_states: optional(array(PhaseState)),
    contract: object({ passed: boolean(), checks: optional(array(ContractCheck)) }),
    run: optional(doc(RunView, 'The root run as it is; absent in lists, and where it is no longer kept.')),
    run_stream_url: optional(string()),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    completed_at_ms: optional(timestamp()),
    metadata: optional(jsonObject()),
    evidence_refs: optional(array(FlowEvidence)),
    started_before: optional(doc(literal(true), 'Of the answer to a start that an equal one had made before.')),
  }),
)
/** The value form of `FlowView`. */
export type FlowView = Infer<typeof FlowView>
