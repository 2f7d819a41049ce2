import {
  array,
  defineRoute,
  doc,
  enums,
  jsonReply,
  object,
  optional,
  streamReply,
  string,
  type Route,
} from '../../../core/plugin.js'
import { ModelDeltas, noRun, OutputMade, RunUpdated, Trace } from '../../execution/runs/contract.js'
import { EvidenceRef } from '../playbooks/contract.js'
import { cancelFlow, type CancelParts } from './cancel.js'
import { FlowView, mostEvidence } from './contract.js'
import { flowErrors } from './errors.js'
import { attest } from './evidence.js'
import { ProductViewRequest, ProductViewVerdict, verifyProductView, type ProductViewParts } from './product-view.js'
import { flowParams, flowPath } from './routes.js'
import { flowView } from './views.js'

const path = `${flowPath}/:flow_id`
const params = flowParams

export type ActionParts = ProductViewParts & CancelParts

export const flowActionRoutes = (parts: ActionParts): readonly Route[] => [
  cancel(parts),
  evidence(parts),
  productView(parts),
  stream(parts),
]

const cancel = (parts: ActionParts): Route =>
  defineRoute({
    id: 'flows.cancel',
    method: 'POST',
    path: `${path}/cancel`,
    summary: 'Cancels what still works for a flow; a cancelled flow stays as it is.',
    access: 'admin',
    params,
    body: object({}),
    bodyOptional: true,
    reply: jsonReply(FlowView),
    problems: [flowErrors.flow_not_found, flowErrors.flow_state_conflict, ...noRun],
    durability: 'A',
    handler: async ({ params: { flow_id }, caller }) => flowView(parts, await cancelFlow(parts, flow_id), caller),
  })

const evidence = (parts: ProductViewParts): Route =>
  defineRoute({
    id: 'flows.evidence.add',
    method: 'POST',
    path: `${path}/evidence`,
    summary: 'Adds evidence to a flow, each kind and id once.',
    access: 'admin',
    params,
    body: object({ evidence_refs: array(EvidenceRef, { min: 1, max: mostEvidence }) }),
    reply: jsonReply(FlowView),
    problems: [flowErrors.flow_not_found, flowErrors.flow_evidence_unresolved, flowErrors.flow_evidence_full],
    durability: 'A',
    example: { body: { evidence_refs: [{ kind: 'review', id: 'https://example.org/reviews/7' }] } },
    handler: async ({ params: { flow_id }, body: { evidence_refs }, caller }) =>
      flowView(parts, await attest(parts, flow_id, evidence_refs), caller),
  })

const productView = (parts: ProductViewParts): Route =>
  defineRoute({
    id: 'flows.verify.product_view',
    method: 'POST',
    path: `${path}/verify/product-view`,
    summary: 'Looks whether a report of a flow is there with its sections, and which tools were called.',
    access: 'admin',
    params,
    body: ProductViewRequest,
    reply: jsonReply(ProductViewVerdict),
    problems: [flowErrors.flow_not_found, flowErrors.flow_report_path_invalid, flowErrors.flow_evidence_full],
    durability: 'A',
    example: { body: { report_path: 'report.md', required_sections: ['Summary'], forbidden_tools: ['bash'] } },
    handler: ({ params: { flow_id }, body }) => verifyProductView(parts, flow_id, body),
  })

const stream = ({ store, runs }: ProductViewParts): Route =>
  defineRoute({
    id: 'flows.stream',
    method: 'GET',
    path: `${path}/stream`,
    summary: 'Follows the events of the root run of a flow.',
    access: 'read',
    params,
    query: object({
      include: optional(
        doc(enums([ModelDeltas.include]), '`deltas`: also what the model says while it says it, as for a run.'),
      ),
      cursor: optional(doc(string({ max: 100 }), 'Id of the last event seen.')),
    }),
    reply: streamReply(RunUpdated, OutputMade, Trace),
    problems: [flowErrors.flow_not_found, ...noRun],
    handler: ({ params: { flow_id }, query: { include } }) => ({
      filter: { scope: 'run', id: runs.get(store.get(flow_id).run_id).run_id },
      ...(include !== undefined && { include: [include] }),
    }),
  })
