/** Mailboxes from the command line. */
import {
  array,
  boolean,
  defineCommand,
  integer,
  json,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Command,
  type CommandInput,
  type Infer,
} from '../../../core/plugin.js'

const Message = open({
  id: string(),
  from: string(),
  subject: string(),
  payload: json(),
  created_at_ms: integer(),
  delivery_attempts: integer(),
  last_error: optional(string()),
})

const showMessage = ({ id, from, subject, payload, created_at_ms, last_error }: Infer<typeof Message>): string =>
  [
    `${id}  ${visibleLine(subject)}`,
    `  from ${from}, ${showTime(created_at_ms)}${last_error === undefined ? '' : `: ${visibleLine(last_error)}`}`,
    `  ${visibleLine(JSON.stringify(payload))}`,
  ].join('\n')

const showAll = (messages: Infer<typeof Message>[]): string =>
  messages.length === 0 ? 'No messages.' : messages.map(showMessage).join('\n')

const at = ({ args }: CommandInput): string => `/v1/agents/${encodeURIComponent(args['agent_id'] ?? '')}/mailbox`

export const commands: readonly Command[] = [
  defineCommand({
    path: ['mailboxes', 'post'],
    route: 'POST /v1/mailboxes',
    summary: 'Sends a message from one agent to another.',
    args: ['from_agent_id', 'to_agent_id', 'subject', 'text'],
    flags: {
      'message-id': { kind: 'text', summary: 'Names the message once: sent again, it is not sent again.' },
      'ttl-ms': { kind: 'text', value: 'ms', summary: 'Milliseconds until it is a dead letter unless it was read.' },
    },
    fields: {
      'body.message_id': '--message-id',
      'body.ttl_ms': '--ttl-ms',
      'body.subject': '<subject>',
      'body.payload': '<text>',
      'body.payload.text': '<text>',
    },
    run: ({ client, args, flags: { 'message-id': message_id, 'ttl-ms': ttl } }) =>
      client.send('POST', '/v1/mailboxes', {
        from_agent_id: args['from_agent_id'] ?? '',
        to_agent_id: args['to_agent_id'] ?? '',
        subject: args['subject'] ?? '',
        payload: { text: args['text'] ?? '' },
        ...(typeof message_id === 'string' && { message_id }),
        ...(typeof ttl === 'string' && { ttl_ms: /^\d+$/u.test(ttl) ? Number(ttl) : ttl }),
      }),
    answer: open({ accepted: boolean(), message_id: string(), duplicate: boolean() }),
    show: ({ accepted, message_id, duplicate }) =>
      `${message_id}: ${duplicate ? 'sent before' : accepted ? 'sent' : 'a dead letter, because the agent is closed'}`,
  }),
  defineCommand({
    path: ['mailboxes', 'list'],
    route: 'GET /v1/agents/{agent_id}/mailbox',
    summary: 'Messages that wait for an agent.',
    args: ['agent_id'],
    run: (input) => input.client.get(at(input)),
    answer: array(Message),
    show: showAll,
  }),
  defineCommand({
    path: ['mailboxes', 'dead-letter'],
    route: 'GET /v1/agents/{agent_id}/mailbox/dead-letter',
    summary: 'Messages that an agent never read, and why.',
    args: ['agent_id'],
    run: (input) => input.client.get(`${at(input)}/dead-letter`),
    answer: array(Message),
    show: showAll,
  }),
  defineCommand({
    path: ['mailboxes', 'ack'],
    route: 'POST /v1/agents/{agent_id}/mailbox/{message_id}/ack',
    summary: 'Takes a message out of a mailbox, or out of its dead letters.',
    args: ['agent_id', 'message_id'],
    run: (input) =>
      input.client.send('POST', `${at(input)}/${encodeURIComponent(input.args['message_id'] ?? '')}/ack`, {}),
    answer: open({ acknowledged: boolean(), message_id: string() }),
    show: ({ message_id }) => `${message_id} is acknowledged.`,
  }),
]
