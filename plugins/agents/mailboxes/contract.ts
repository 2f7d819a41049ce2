/** Messages from agent to agent. Rules: docs/rules/mailboxes.md. */
import {
  defineToken,
  doc,
  enums,
  integer,
  jsonObject,
  literal,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type JsonObject,
  type Token,
  type Tx,
} from '../../../core/plugin.js'

/** States of a message that is still kept (mailboxes-1). */
export const messageStates = ['pending', 'delivering', 'dead_letter'] as const

/** A message as it is shown (mailboxes-3). */
export const MailboxMessage = named(
  'MailboxMessage',
  object({
    schema_version: literal(1),
    id: string(),
    state: enums(messageStates),
    created_at_ms: timestamp(),
    expires_at_ms: optional(doc(timestamp(), 'When it is a dead letter unless it was delivered.')),
    delivery_attempts: doc(integer({ min: 0 }), 'Runs that were made for it.'),
    last_error: optional(doc(string(), 'Why the last of them did not deliver it, or why it is a dead letter.')),
    from: doc(string(), 'Id of the agent that sent it.'),
    to: doc(string(), 'Id of the agent that it is for.'),
    subject: string(),
    payload: jsonObject(),
  }),
)
/** The value form of `MailboxMessage`. */
export type MailboxMessage = Infer<typeof MailboxMessage>

/** A message to be sent. */
export interface Letter {
  readonly from_agent_id: string
  readonly to_agent_id: string
  readonly subject: string
  readonly payload: JsonObject
  /** Names it once; made by the daemon when absent. */
  readonly message_id?: string | undefined
  /** Milliseconds until it is a dead letter; it waits for ever when absent. */
  readonly ttl_ms?: number | undefined
  /** The daemon itself has to say it: it is taken however much waits and however long it is. */
  readonly isOwed?: true
}

/** What became of it. */
export interface Posted {
  /** False where its recipient is closed: then it is a dead letter. */
  readonly accepted: boolean
  readonly message_id: string
  /** True where it was sent before. */
  readonly duplicate: boolean
}

/** The mailboxes of agents. */
export interface Mailboxes {
  /** Sends in a commit of the caller. Throws `agent_not_found`, `mailbox_full` and `message_id_conflict`. */
  post(tx: Tx, letter: Letter): Posted
  /** Makes dead letters of all that waits for an agent. */
  discard(tx: Tx, agent_id: string, why: string): void
  /** Until the end that it returns nothing that waits for these agents begins a run of theirs. */
  hold(agent_ids: readonly string[]): () => void
}
/** The mailboxes of agents: sending messages. */
export const Mailboxes: Token<Mailboxes> = defineToken<Mailboxes>('mailboxes@1')
