/** What is kept of the floor: a record for each turn, and one for each message that is still to be decided on. */
import { array, doc, integer, named, object, optional, string, timestamp, type Infer } from '../../../../core/plugin.js'

const leaseFields = {
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
}
export const TurnLease = named('TurnLease', object(leaseFields))
export type TurnLease = Infer<typeof TurnLease>

/** A lease as it is kept. */
export const LeaseRecord = object({
  ...leaseFields,
  current_human_origin_message_id: string(),
  last_human_priority_session_ids: array(string()),
  /** Those who had their turn since somebody spoke last: they are not asked again before that. */
  asked_session_ids: array(string()),
})
/** The value form of `LeaseRecord`. */
export type LeaseRecord = Infer<typeof LeaseRecord>

/** A person has said something since its turn began. */
export const isSwitched = ({ last_human_message_id, current_human_origin_message_id }: LeaseRecord): boolean =>
  last_human_message_id !== current_human_origin_message_id

/** A lease as it is shown. */
export const shownLease = ({ asked_session_ids: _asked, ...lease }: LeaseRecord): TurnLease => lease

/** A message that asks for a turn. */
export const CallRecord = object({
  message_id: string(),
  channel_id: string(),
  thread_root_message_id: string(),
  at_ms: timestamp(),
  /** Of a floor that its holder lost before it spoke: how the turn went until then. */
  passed: optional(object({ priority: array(string()), asked: array(string()) })),
})
/** The value form of `CallRecord`. */
export type CallRecord = Infer<typeof CallRecord>
