import { defineErrors } from '../../../../core/plugin.js'

export const captureErrors = defineErrors({
  capture_agent_not_found: {
    status: 404,
    domain: 'capture',
    detail: 'There is no capture agent {machine_id}.',
    action: 'See GET /v1/capture-agents for those that there are.',
  },
  capture_provisioning_invalid: {
    status: 400,
    domain: 'capture',
    detail: 'The agents cannot be provisioned so.',
    action: 'Correct the fields; nothing was provisioned.',
  },
  capture_provisioning_batch_conflict: {
    status: 409,
    domain: 'capture',
    detail: 'The batch {batch_id} was applied already, and its tokens are told once.',
    action: 'Provision under another batch_id: what the machines have until then ends at once.',
  },
  capture_heartbeat_invalid: {
    status: 400,
    domain: 'observation_ingress',
    detail: 'The heartbeat is not as it should be.',
    action: 'Name each source once, and only those of this agent.',
  },
})
