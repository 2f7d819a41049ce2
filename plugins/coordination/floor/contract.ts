/** Who speaks in a channel: turn leases and the runs of those that hold one. Rules: docs/rules/floor.md. */
import {
  array,
  definePoint,
  doc,
  hasMembers,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Point,
  type Tx,
} from '../../../core/plugin.js'

/** The right of a session to speak in a thread, and the run in which it does. */
export const TurnLease = named(
  'TurnLease',
  object({
    turn_id: string(),
    channel_id: string(),
    thread_root_message_id: string(),
    origin_message_id: doc(string(), 'The message that is answered.'),
    holder_session_id: string(),
    active_run_id: string(),
    remaining_reply_budget: doc(integer({ min: 0 }), 'Messages of agents that may still follow.'),
    expires_at_ms: doc(timestamp(), 'When the next one is asked, unless this one has not begun or waits for people.'),
    queued_candidate_session_ids: doc(array(string()), 'Who is asked next, as many as the budget can use.'),
    last_human_message_id: string(),
    agent_reply_count_since_last_human: integer({ min: 0 }),
    superseded_run_id: optional(string()),
    superseded_turn_id: optional(string()),
    current_human_origin_message_id: optional(string()),
    last_human_priority_session_ids: optional(array(string())),
  }),
)
/** The value form of `TurnLease`. */
export type TurnLease = Infer<typeof TurnLease>

/** Hears who was asked to answer a message. */
export interface TurnObserver {
  readonly id: string
  /** Called in the commit that grants leases for a message, with their sessions in order. Must not throw. */
  granted(tx: Tx, message_id: string, session_ids: readonly string[]): void
}
/** Everyone who hears of turns. */
export const TurnObservers: Point<TurnObserver> = definePoint<TurnObserver>(
  'turn-observers@1',
  ({ id }) => id,
  hasMembers('an observer of turns', { id: 'text', granted: 'function' }),
)
