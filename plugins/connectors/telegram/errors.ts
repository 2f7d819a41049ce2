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

/** A connector that asks for its updates takes none. */
export const pollsItself = (): Problem =>
  ingressErrors.conflict({
    details: { what: 'the connector asks the platform for its updates' },
    members: { reason: 'polling' },
  })
