import { defineErrors } from '../../../core/plugin.js'

/** Problems of mailboxes. */
export const mailboxErrors = defineErrors({
  message_not_found: {
    status: 404,
    domain: 'mailboxes',
    detail: 'The mailbox of {agent_id} has no message {message_id}.',
    action: 'GET /v1/agents/{agent_id}/mailbox lists those that wait.',
  },
  message_id_conflict: {
    status: 409,
    domain: 'mailboxes',
    detail: 'The message id {message_id} was used for another message.',
    action: 'Give another message another id.',
  },
  message_in_delivery: {
    status: 409,
    domain: 'mailboxes',
    detail: 'The message {message_id} is being delivered by the run {run_id}.',
    action: 'Wait for the end of the run: then it is acknowledged, or waits again.',
  },
  message_too_large: {
    status: 413,
    domain: 'mailboxes',
    detail: 'The payload of a message takes at most {most} bytes.',
    action: 'Send a file by its asset id, or less.',
  },
  message_empty: {
    status: 400,
    domain: 'mailboxes',
    detail: 'The message says nothing.',
    action: 'Give message, asset_ids or input_items.',
  },
  mailbox_full: {
    status: 429,
    domain: 'mailboxes',
    detail: 'The mailbox of {agent_id} holds {most} messages that wait.',
    action: 'Wait until the agent has read some, or acknowledge them.',
  },
})
