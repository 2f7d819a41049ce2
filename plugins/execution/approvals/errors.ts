import { defineErrors } from '../../../core/plugin.js'

export const approvalErrors = defineErrors({
  approval_state_conflict: {
    status: 409,
    domain: 'approvals',
    detail: 'Nothing waits for approval here: {what} is {status}.',
    action: 'GET /v1/approvals lists the calls that wait; GET /v1/runs/{run_id} says what became of this one.',
  },
  approval_batch_empty: {
    status: 400,
    domain: 'approvals',
    detail: 'The request carries no resolutions.',
    action: 'Send one for each request you decide on.',
  },
  approval_duplicate_resolution: {
    status: 400,
    domain: 'approvals',
    detail: 'A request is resolved twice in one batch.',
    action: 'Send one resolution for each request.',
  },
  approval_request_not_pending: {
    status: 400,
    domain: 'approvals',
    detail: 'Request {request_id} is not pending in this run.',
    action: 'Read the run: pending_approvals lists what is open. Nothing of this batch was recorded.',
  },
  approval_expired: {
    status: 409,
    domain: 'approvals',
    detail: 'Request {request_id} was denied because nobody decided in time.',
    action: 'The run went on without the call. Submit a new run to have it asked again.',
  },
  approval_updated_input_invalid: {
    status: 400,
    domain: 'approvals',
    detail: 'The updated input does not fit the tool {tool_name}.',
    action: 'Send an input that the tool takes, or leave it out. Nothing of this batch was recorded.',
  },
})
