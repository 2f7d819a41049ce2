import { defineErrors } from '../../../core/plugin.js'

/** Problems of flows. */
export const flowErrors = defineErrors({
  flow_not_found: {
    status: 404,
    domain: 'flows',
    detail: 'There is no flow {flow_id}.',
    action: 'List them with GET /v1/flows.',
  },
  flow_conflict: {
    status: 409,
    domain: 'flows',
    detail: 'The flow {flow_id} was started by another request.',
    action: 'A retry says the same in every member; start another flow under another flow_id.',
  },
  flow_scope_too_wide: {
    status: 400,
    domain: 'flows',
    detail: 'The session {session_id} may do more than the playbook lets it: {list} of its {scope}.',
    action: 'Narrow the scope of the session, or start the flow in another one.',
  },
  flow_evidence_unresolved: {
    status: 400,
    domain: 'flows',
    detail: 'The flow has no {kind} {id}.',
    action:
      'Name what GET /v1/flows/{flow_id} lists in primitive_refs, on the command line with --output json, or attest ' +
      'it with a kind of your own.',
  },
  flow_evidence_full: {
    status: 409,
    domain: 'flows',
    detail: 'The flow {flow_id} has {most} pieces of evidence: no more fit.',
    action: 'Put what is left into one document, and name that.',
  },
  flow_state_conflict: {
    status: 409,
    domain: 'flows',
    detail: 'The flow {flow_id} is {status} and cannot be cancelled.',
    action: 'It has ended: GET /v1/flows/{flow_id} says how; start another one with POST /v1/flows.',
  },
  flow_report_path_invalid: {
    status: 400,
    domain: 'flows',
    detail: 'The path of the report is not relative to the workspace: {reason}.',
    action: 'Send a path such as report.md.',
  },
})
