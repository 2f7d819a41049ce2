/** Sending a message (mailboxes-1 and mailboxes-2). */
import { digest, type Ids } from '../../../core/plugin.js'
import type { Assets } from '../../media/assets/contract.js'
import type { Agents } from '../sidechains/contract.js'
import type { Mailboxes } from './contract.js'
import { mailboxErrors } from './errors.js'
import { checkFiles, nameFiles } from './files.js'
import type { MessageStore } from './store.js'

/** Messages of one agent that wait, and bytes of a payload. */
const [mostWaiting, mostBytes] = [1000, 65_536]

export interface PostParts {
  readonly store: MessageStore
  readonly agents: Agents
  readonly ids: Ids
  readonly assets: () => Assets | undefined
  /** A message waits for an agent; called when that is durable. */
  readonly posted: (agent_id: string) => void
}

export const createPost =
  ({ store, agents, ids, assets, posted }: PostParts): Mailboxes['post'] =>
  (tx, { from_agent_id, to_agent_id, subject, payload, message_id = ids.make('message'), ttl_ms, isOwed }) => {
    agents.get(from_agent_id)
    const { session } = agents.get(to_agent_id)
    if (isOwed !== true && Buffer.byteLength(JSON.stringify(payload)) > mostBytes)
      throw mailboxErrors.message_too_large({ details: { most: mostBytes } })
    const sent = { from_agent_id, to_agent_id, subject, payload }
    const known = store.find(message_id)
    if (known !== undefined) {
      if (known.digest !== digest(sent)) throw mailboxErrors.message_id_conflict({ details: { message_id } })
      return { accepted: known.state !== 'dead_letter', message_id, duplicate: true }
    }
    if (isOwed !== true && store.waiting(to_agent_id) >= mostWaiting)
      throw mailboxErrors.mailbox_full({ details: { agent_id: to_agent_id, most: mostWaiting }, retryAfter: 60 })
    checkFiles(assets(), payload, 'body.payload.')
    const message = {
      message_id,
      ...sent,
      state: 'pending',
      digest: digest(sent),
      created_at_ms: tx.now,
      delivery_attempts: 0,
      ...(ttl_ms !== undefined && { expires_at_ms: tx.now + ttl_ms }),
    } as const
    const isClosed = session.ended_at_ms !== undefined
    if (isClosed) store.bury(tx, message, closed)
    else {
      store.put(tx, message)
      nameFiles(tx, store.files, message)
    }
    tx.after(() => posted(to_agent_id))
    return { accepted: !isClosed, message_id, duplicate: false }
  }

/** Why a message for a closed agent is a dead letter. */
export const closed = 'the agent is closed'
