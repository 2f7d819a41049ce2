/** Where messages are kept: until they are acknowledged, and their ids a day longer. */
import {
  enums,
  integer,
  jsonObject,
  object,
  optional,
  string,
  timeKey,
  type Collection,
  type CollectionSpec,
  type JsonObject,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import { messageStates, type MailboxMessage } from './contract.js'
import { declareFiles, letFilesGo, type MessageFile } from './files.js'

/** Times in Unix ms. */
export interface MessageRecord {
  readonly message_id: string
  /** `acknowledged`: only its id and digest are of use. */
  readonly state: (typeof messageStates)[number] | 'acknowledged'
  readonly from_agent_id: string
  readonly to_agent_id: string
  readonly subject: string
  readonly payload: JsonObject
  /** Of all that was sent, for those who send it again. */
  readonly digest: string
  readonly created_at_ms: number
  readonly expires_at_ms?: number
  readonly delivery_attempts: number
  /** Not before this it is tried again. */
  readonly next_attempt_at_ms?: number
  readonly last_error?: string
  /** The run that delivers it. */
  readonly run_id?: string
  readonly acknowledged_at_ms?: number
}

const order = ({ created_at_ms, message_id }: MessageRecord): string => `${timeKey(created_at_ms)}${message_id}`

/** When something is to be done with one that waits. */
export const dueAt = ({ expires_at_ms, next_attempt_at_ms }: MessageRecord): number | undefined => {
  const times = [expires_at_ms, next_attempt_at_ms].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.min(...times)
}

const messageCollection: CollectionSpec<MessageRecord> = {
  name: 'mailbox_messages',
  version: 1,
  id: ({ message_id }) => message_id,
  indexes: {
    pending: { group: ({ state, to_agent_id }) => (state === 'pending' ? to_agent_id : undefined), sort: order },
    dead: { group: ({ state, to_agent_id }) => (state === 'dead_letter' ? to_agent_id : undefined), sort: order },
    delivering: { group: ({ state, run_id }) => (state === 'delivering' ? run_id : undefined), sort: order },
    due: {
      group: (one) => (one.state === 'pending' && dueAt(one) !== undefined ? 'all' : undefined),
      sort: (one) => timeKey(dueAt(one) ?? 0),
    },
    known: {
      group: ({ acknowledged_at_ms }) => (acknowledged_at_ms === undefined ? undefined : 'all'),
      sort: ({ acknowledged_at_ms = 0 }) => timeKey(acknowledged_at_ms),
    },
  },
  settled: ({ state }) => state === 'dead_letter' || state === 'acknowledged',
  removed: 'forgotten',
  schema: object({
    message_id: string(),
    state: enums([...messageStates, 'acknowledged']),
    from_agent_id: string(),
    to_agent_id: string(),
    subject: string(),
    payload: jsonObject(),
    digest: string(),
    created_at_ms: integer(),
    expires_at_ms: optional(integer()),
    delivery_attempts: integer(),
    next_attempt_at_ms: optional(integer()),
    last_error: optional(string()),
    run_id: optional(string()),
    acknowledged_at_ms: optional(integer()),
  }),
}

/** Milliseconds for which an acknowledged id is known. */
const knownMs = 24 * 60 * 60 * 1000
/** Dead letters of one agent; the oldest go. */
const mostDead = 1000
/** Ids that are let go of in one commit. */
const lettingGo = 100

export interface MessageStore {
  readonly collection: Collection<MessageRecord>
  /** Which of those that wait name which assets. */
  readonly files: Collection<MessageFile>
  find(message_id: string): MessageRecord | undefined
  /** Those that wait for an agent, in order. */
  pending(agent_id: string, limit: number): readonly MessageRecord[]
  deadLetters(agent_id: string, limit: number): readonly MessageRecord[]
  /** How many wait for an agent. */
  waiting(agent_id: string): number
  dead(agent_id: string): number
  /** Agents for whom something waits. */
  recipients(): readonly string[]
  /** Those that a run delivers. */
  deliveredBy(run_id: string): readonly MessageRecord[]
  /** Runs that deliver something. */
  deliveries(): readonly string[]
  /** Those that something is to be done with first, in the order of their times. */
  due(limit: number): readonly MessageRecord[]
  put(tx: Tx, message: MessageRecord): void
  /** It was read: its id stays known for a day. */
  acknowledge(tx: Tx, message: MessageRecord): void
  /** Nobody will read it. */
  bury(tx: Tx, message: MessageRecord, why: string): void
}

/** `emptied` is told, in the commit, of an agent for whom nothing waits any more. */
export const declareMessages = (state: State, emptied: (tx: Tx, agent_id: string) => void): MessageStore => {
  const collection = state.collection(messageCollection)
  const files = declareFiles(state)
  const put = (tx: Tx, message: MessageRecord): void => {
    const { to_agent_id, message_id } = message
    const waited = collection.find(message_id)?.state === 'pending'
    tx.put(collection, message)
    if (waited && message.state !== 'delivering' && collection.count('pending', to_agent_id) === 0)
      emptied(tx, to_agent_id)
  }
  const letGo = (tx: Tx): void => {
    for (const old of collection.list({ index: 'known', group: 'all', limit: lettingGo })) {
      if (tx.now - (old.acknowledged_at_ms ?? 0) < knownMs) return
      tx.remove(collection, old.message_id, 'it was acknowledged long ago')
    }
  }
  return {
    collection,
    files,
    find: (id) => collection.find(id),
    pending: (group, limit) => collection.list({ index: 'pending', group, limit }),
    deadLetters: (group, limit) => collection.list({ index: 'dead', group, limit }),
    waiting: (agent_id) => collection.count('pending', agent_id),
    dead: (agent_id) => collection.count('dead', agent_id),
    recipients: () => collection.groups('pending'),
    deliveredBy: (run_id) => collection.ids('delivering', run_id).flatMap((id) => collection.find(id) ?? []),
    deliveries: () => collection.groups('delivering'),
    due: (limit) => collection.list({ index: 'due', group: 'all', limit }),
    put,
    acknowledge(tx, message) {
      letGo(tx)
      letFilesGo(tx, files, message)
      const { message_id, from_agent_id, to_agent_id, subject, digest, created_at_ms, delivery_attempts } = message
      put(tx, {
        message_id,
        from_agent_id,
        to_agent_id,
        subject,
        digest,
        created_at_ms,
        delivery_attempts,
        payload: {},
        state: 'acknowledged',
        acknowledged_at_ms: tx.now,
      })
    },
    bury(tx, message, why) {
      const { next_attempt_at_ms: _, run_id: __, ...kept } = message
      const dead = { index: 'dead', group: message.to_agent_id }
      if (collection.count(dead.index, dead.group) >= mostDead)
        for (const oldest of collection.list({ ...dead, limit: 1 }))
          tx.remove(collection, oldest.message_id, 'newer ones are among the dead letters')
      letFilesGo(tx, files, message)
      put(tx, { ...kept, state: 'dead_letter', last_error: why })
    },
  }
}

export const shownMessage = (message: MessageRecord): MailboxMessage => {
  const { message_id, state, from_agent_id, to_agent_id, expires_at_ms, last_error } = message
  return {
    schema_version: 1,
    id: message_id,
    state: state === 'acknowledged' ? 'pending' : state,
    created_at_ms: message.created_at_ms,
    ...(expires_at_ms !== undefined && { expires_at_ms }),
    delivery_attempts: message.delivery_attempts,
    ...(last_error !== undefined && { last_error }),
    from: from_agent_id,
    to: to_agent_id,
    subject: message.subject,
    payload: message.payload,
  }
}
