import type { Problem } from '../../../../core/plugin.js'
import { ingressErrors } from '../../ingress/contract.js'

/** Why an update becomes no run: the words of the answer and the member `reason`. */
const refusals = {
  update_id_missing: 'it has no update_id',
  chat_not_allowed: 'its chat is not among the allowed_chat_ids of the connector',
  message_empty: 'it has neither text nor a file that the connector takes',
  callback_invalid: 'it names no data, or no message with its button',
} as const

export const refusedUpdate = (reason: keyof typeof refusals): Problem =>
  ingressErrors.bad_request({ details: { what: refusals[reason] }, members: { reason } })
