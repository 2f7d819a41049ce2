/** What is kept of a flow. */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  jsonObject,
  literal,
  object,
  optional,
  string,
  timeKey,
  timestamp,
  type CollectionSpec,
  type Infer,
} from '../../../core/plugin.js'
import { EvidenceRef, PlaybookRef } from '../playbooks/contract.js'
import { flowStatuses } from './status.js'

const ids = (text: string) => doc(array(string()), text)
/** What belongs to a flow, by ids: the first so many of each kind. */
export const PrimitiveRefs = object({
  run_ids: ids('Its root run first.'),
  task_ids: ids('Tasks that its runs made.'),
  agent_ids: ids('Agents that its runs started, however deep.'),
  approval_ids: ids('What its runs asked approval for.'),
  question_ids: ids('What they asked people.'),
  schedule_ids: ids('The schedule that started it.'),
  output_ids: ids('What they put out: the run, a colon and the place in the journal.'),
})
/** The value form of `PrimitiveRefs`. */
export type PrimitiveRefs = Infer<typeof PrimitiveRefs>

export const phaseStatuses = ['pending', 'satisfied', 'blocked'] as const
/** A phase of the playbook, as far as it is (flows-10). */
export const PhaseState = object({
  phase_id: string(),
  status: enums(phaseStatuses),
  missing_evidence: optional(doc(array(EvidenceRef), 'What it requires and nobody has added.')),
})
/** The value form of `PhaseState`. */
export type PhaseState = Infer<typeof PhaseState>

export const ContractCheck = object({ name: string(), passed: boolean(), details: string() })
/** The value form of `ContractCheck`. */
export type ContractCheck = Infer<typeof ContractCheck>

/** How a flow ended; nothing of it changes any more (flows-9). */
const Settled = object({
  status: enums(flowStatuses),
  completed_at_ms: doc(timestamp(), 'When the first status was reached that a flow keeps.'),
  updated_at_ms: timestamp(),
  refs: PrimitiveRefs,
  refs_truncated: optional(literal(true)),
  phases: array(PhaseState),
  checks: array(ContractCheck),
})
/** The value form of `Settled`. */
export type Settled = Infer<typeof Settled>

/** The kind of evidence that a report is which the daemon has looked at; people may attest one too. */
export const productView = 'product_view'

/** Evidence as a flow has it. */
export const FlowEvidence = object({
  ...EvidenceRef.schema,
  verified_at_ms: optional(doc(timestamp(), 'When the daemon itself looked at it; absent for what people attest.')),
})
/** The value form of `FlowEvidence`. */
export type FlowEvidence = Infer<typeof FlowEvidence>

const FlowRecord = object({
  flow_id: string(),
  playbook_ref: PlaybookRef,
  session_id: string(),
  run_id: string(),
  idempotency_key: optional(string()),
  request_digest: doc(string(), 'Of all that its start said.'),
  nonce: string(),
  schedule_id: optional(string()),
  metadata: optional(jsonObject()),
  evidence_refs: array(FlowEvidence),
  evidence_at_ms: optional(doc(timestamp(), 'When the newest was added.')),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  cancelled_at_ms: optional(doc(timestamp(), 'When somebody ended it that nothing else had ended.')),
  settled: optional(Settled),
  revision: doc(integer({ min: 1 }), 'Grows with each change.'),
})
/** The value form of `FlowRecord`. */
export type FlowRecord = Infer<typeof FlowRecord>

const byTime = ({ created_at_ms, flow_id }: FlowRecord): string => `${timeKey(created_at_ms)}${flow_id}`
const isOpen = ({ settled }: FlowRecord): boolean => settled === undefined

export const flowCollection: CollectionSpec<FlowRecord> = {
  name: 'flows',
  version: 1,
  id: ({ flow_id }) => flow_id,
  indexes: {
    all: { group: () => 'all', sort: byTime },
    session: { group: ({ session_id }) => session_id, sort: byTime },
    playbook: { group: ({ playbook_ref }) => playbook_ref.playbook_id, sort: byTime },
    run: { group: ({ run_id }) => run_id },
    key: { group: ({ idempotency_key }) => idempotency_key },
    open: { group: (flow) => (isOpen(flow) ? 'all' : undefined) },
    open_session: { group: (flow) => (isOpen(flow) ? flow.session_id : undefined) },
  },
  settled: (flow) => !isOpen(flow),
  schema: FlowRecord,
  references: ({ session_id, playbook_ref }) => [
    { collection: 'sessions', id: session_id },
    { collection: 'playbooks', id: playbook_ref.playbook_id },
  ],
}
