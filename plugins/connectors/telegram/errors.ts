import { defineErrors, type Problem } from '../../../core/plugin.js'
import { ingressDomain as domain, ingressErrors } from '../ingress/contract.js'

const action = 'Send the update as the platform does.'

/** What is wrong with how an update is sent; what is wrong with one is told as for every kind (telegram-9). */
export const telegramErrors = defineErrors({
  telegram_media_type_unsupported: {
    status: 415,
    domain,
    detail: 'The body must be sent as application/json.',
    action,
  },
  telegram_update_invalid: {
    status: 422,
    domain,
    detail: 'The body is not an update of the Bot API: {reason}',
    action,
  },
})

/** Why an update becomes no run: the words of the answer and the member `reason`. */
const refusals = {
  update_id_missing: 'it has no update_id',
  chat_not_allowed: 'its chat is not among the allowed_chat_ids of the connector',
  message_empty: 'it has neither text nor a file that the connector takes',
  callback_invalid: 'it names no data, or no message with its button',
} as const

export const refusedUpdate = (reason: keyof typeof refusals): Problem =>
  ingressErrors.bad_request({ details: { what: refusals[reason] }, members: { reason } })

/** A connector that asks for its updates takes none. */
export const pollsItself = (): Problem =>
  ingressErrors.conflict({
    details: { what: 'the connector asks the platform for its updates' },
    members: { reason: 'polling' },
  })
