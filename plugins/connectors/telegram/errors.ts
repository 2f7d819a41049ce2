import { defineErrors } from '../../../core/plugin.js'

const domain = 'connector_ingress'

/** What is wrong with a request of the platform, or of whoever pretends to be it. */
export const telegramErrors = defineErrors({
  telegram_connector_not_found: {
    status: 404,
    domain,
    detail: 'There is no telegram connector of that name.',
    action: 'See which there are with GET /v1/runtime/connectors.',
  },
  telegram_connector_polls: {
    status: 409,
    domain,
    detail: 'This connector asks the platform for its updates, and takes none by webhook.',
    action: 'Remove the webhook from the bot, or give the connector the ingress_mode webhook.',
  },
  telegram_secret_refused: {
    status: 401,
    domain,
    detail: 'The request does not show the secret of the webhook.',
    action: 'Set the webhook of the bot again, with the secret_token of the connector.',
  },
  telegram_media_type_unsupported: {
    status: 415,
    domain,
    detail: 'The body must be sent as application/json.',
    action: 'Send the update as the platform does.',
  },
  telegram_update_invalid: {
    status: 422,
    domain,
    detail: 'The body is not an update of the Bot API: {reason}',
    action: 'Send the update as the platform does.',
  },
  telegram_update_id_missing: {
    status: 400,
    domain,
    detail: 'The update has no update_id.',
    action: 'Send the update as the platform does.',
  },
  telegram_chat_not_allowed: {
    status: 400,
    domain,
    detail: 'The chat is not among the allowed_chat_ids of the connector.',
    action: 'Add the chat to allowed_chat_ids if it is to be heard.',
  },
  telegram_message_empty: {
    status: 400,
    domain,
    detail: 'The message has neither text nor a file that this connector takes.',
    action: 'Send text, a photo or a document; files need a bot_token of the connector.',
  },
  telegram_callback_invalid: {
    status: 400,
    domain,
    detail: 'The callback query names no data or no message.',
    action: 'Give the button callback_data, in a message of the bot that is still there.',
  },
  telegram_ingress_rate_limited: {
    status: 429,
    domain,
    detail: 'More updates come than ingress_events_per_second of the connector lets in; retry_after_ms={wait}',
    action: 'Wait as long as Retry-After says, or raise ingress_events_per_second.',
  },
})
