import {
  array,
  boolean,
  clampLimit,
  defineRoute,
  doc,
  integer,
  jsonObject,
  jsonReply,
  object,
  optional,
  notBlank,
  pageProblems,
  rule,
  string,
  type Route,
  type State,
} from '../../../core/plugin.js'
import type { Runs } from '../../execution/runs/contract.js'
import { assetErrors } from '../../media/assets/contract.js'
import { agentErrors, type Agents } from '../sidechains/contract.js'
import { MailboxMessage, type Mailboxes } from './contract.js'
import { mailboxErrors } from './errors.js'
import { shownMessage, type MessageStore } from './store.js'

export interface MailRouteParts {
  readonly store: MessageStore
  readonly agents: Agents
  readonly state: State
  readonly post: Mailboxes['post']
  readonly runs: Pick<Runs, 'active'>
}

/** Most messages of a list. */
const mostListed = 1000
const AgentId = string({ min: 1, max: 400 })
const params = object({ agent_id: AgentId })
const query = object({ limit: optional(doc(integer(), `Most messages to return, 1 to ${mostListed}.`)) })

/** It is a part of paths, and answers of parents have names of their own. */
const MessageId = rule(
  string({ pattern: '^[\\x21-\\x7e]{1,255}$', told: 'must be 1 to 255 characters of ASCII, without blanks' }),
  'must have no slash and no backslash, be more than dots, and not begin with clarification:',
  (id) => !/[/\\]|^\.{1,2}$|^clarification:/u.test(id),
)

const Posted = object({
  accepted: doc(boolean(), 'False where the recipient is closed: the message is a dead letter then.'),
  message_id: string(),
  duplicate: doc(boolean(), 'True where it was sent before; nothing is sent again.'),
})

export const mailRoutes = (parts: MailRouteParts): readonly Route[] => [
  send(parts),
  list(parts, 'pending'),
  list(parts, 'dead'),
  acknowledge(parts),
]

const send = ({ state, post }: MailRouteParts): Route =>
  defineRoute({
    id: 'mailboxes.post',
    method: 'POST',
    path: '/v1/mailboxes',
    summary: 'Sends a message from one agent to another; it is read in a run of its own when the recipient is free.',
    access: 'admin',
    body: object({
      from_agent_id: AgentId,
      to_agent_id: AgentId,
      subject: string({ min: 1, max: 400, pattern: notBlank }),
      payload: doc(jsonObject(), 'At most 64 KiB of JSON.'),
      message_id: optional(doc(MessageId, 'Names it once; made by the daemon when absent.')),
      ttl_ms: optional(
        doc(integer({ min: 1, max: 31_536_000_000 }), 'Milliseconds until it is a dead letter unless it was read.'),
      ),
    }),
    reply: jsonReply(Posted, 202),
    problems: [
      agentErrors.agent_not_found,
      assetErrors.asset_not_found,
      mailboxErrors.mailbox_full,
      mailboxErrors.message_id_conflict,
      mailboxErrors.message_too_large,
    ],
    durability: 'A',
    example: {
      body: { from_agent_id: 'agent_a', to_agent_id: 'agent_b', subject: 'done', payload: { text: 'All tests pass.' } },
    },
    handler: ({ body }) => state.commit((tx) => post(tx, body)),
  })

const list = ({ store, agents, runs }: MailRouteParts, which: 'pending' | 'dead'): Route =>
  defineRoute({
    id: which === 'pending' ? 'agents.mailbox' : 'agents.mailbox.dead_letter',
    method: 'GET',
    path: which === 'pending' ? '/v1/agents/:agent_id/mailbox' : '/v1/agents/:agent_id/mailbox/dead-letter',
    summary:
      which === 'pending'
        ? 'Messages that an agent is told now, then those that wait for it, the oldest first; reading takes none away.'
        : 'Messages that an agent never read, the oldest first.',
    access: 'read',
    params,
    query,
    reply: jsonReply(array(MailboxMessage)),
    problems: [...pageProblems, agentErrors.agent_not_found],
    handler: ({ params: { agent_id }, query: { limit = mostListed } }) => {
      const { session } = agents.get(agent_id)
      const most = clampLimit(limit, mostListed)
      if (which === 'dead') return store.deadLetters(agent_id, most).map(shownMessage)
      const reading = runs.active(session.session_id)
      const told = reading === undefined ? [] : store.deliveredBy(reading.run_id)
      return [...told, ...store.pending(agent_id, most)].slice(0, most).map(shownMessage)
    },
  })

const acknowledge = ({ store, agents, state }: MailRouteParts): Route =>
  defineRoute({
    id: 'agents.mailbox.ack',
    method: 'POST',
    path: '/v1/agents/:agent_id/mailbox/:message_id/ack',
    summary: 'Takes a message out of a mailbox, or out of its dead letters, as if it had been read.',
    access: 'admin',
    params: object({ agent_id: AgentId, message_id: string({ min: 1, max: 400 }) }),
    body: object({}),
    bodyOptional: true,
    reply: jsonReply(object({ acknowledged: boolean(), message_id: string() })),
    problems: [agentErrors.agent_not_found, mailboxErrors.message_not_found, mailboxErrors.message_in_delivery],
    durability: 'A',
    handler: async ({ params: { agent_id, message_id } }) => {
      agents.get(agent_id)
      await state.commit((tx) => {
        const message = store.find(message_id)
        if (message === undefined || message.to_agent_id !== agent_id || message.state === 'acknowledged')
          throw mailboxErrors.message_not_found({ details: { agent_id, message_id } })
        if (message.state === 'delivering')
          throw mailboxErrors.message_in_delivery({ details: { message_id, run_id: message.run_id ?? '' } })
        store.acknowledge(tx, message)
      })
      return { acknowledged: true, message_id }
    },
  })
