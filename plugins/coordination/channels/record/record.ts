/** What is kept of channels: one record each for a channel, a member, a message and a reaction. Times in Unix ms. */
import {
  array,
  boolean,
  enums,
  jsonObject,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'
import { AttachmentRef, OutputPart } from '../../../media/assets/contract.js'
import { AutonomyPolicy, ParticipationMode } from './policy.js'

/** Most members of a channel. */
export const mostMembers = 10_000

export const memberKinds = ['human_actor', 'session'] as const
export const displayNameModes = ['manual', 'follow_agent'] as const

/** The channel itself; how many members and messages it has is counted by indexes. */
export const ChannelRecord = object({
  channel_id: string(),
  title: string(),
  description: optional(string()),
  purpose: optional(string()),
  pinned_asset_ids: optional(array(string())),
  created_by: string(),
  autonomy_policy: AutonomyPolicy,
  default_participation_mode: ParticipationMode,
  paused: boolean(),
  /** When it was paused last, and when people called again. */
  paused_at_ms: optional(timestamp()),
  resumed_at_ms: optional(timestamp()),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  metadata: optional(jsonObject()),
})
/** The value form of `ChannelRecord`. */
export type ChannelRecord = Infer<typeof ChannelRecord>

/** A member; its key is `<channel_id>/<member_id>`. */
export const MemberRecord = object({
  channel_id: string(),
  member_id: string(),
  member_kind: enums(memberKinds),
  display_name_mode: enums(displayNameModes),
  display_name: string(),
  /** Of those of kind `session`. */
  session_id: optional(string()),
  /** Of those of kind `human_actor`. */
  actor_id: optional(string()),
  role: optional(string()),
  expertise_tags: optional(array(string())),
  participation_mode: ParticipationMode,
  muted: boolean(),
  joined_at_ms: timestamp(),
})
/** The value form of `MemberRecord`. */
export type MemberRecord = Infer<typeof MemberRecord>

/** What a message says: words, files among them, and files that go with it. */
export const MessageOutput = object({
  content: string(),
  parts: array(OutputPart),
  artifacts: array(AttachmentRef),
})
/** The value form of `MessageOutput`. */
export type MessageOutput = Infer<typeof MessageOutput>

/** A message; it never changes. Ids sort in the order in which messages came. */
export const MessageRecord = object({
  message_id: string(),
  channel_id: string(),
  /** Its own id where it opens a subject. */
  root_message_id: string(),
  reply_to_message_id: optional(string()),
  sender: object({ id: string(), display_name: optional(string()) }),
  sender_session_id: optional(string()),
  addressed_member_ids: optional(array(string())),
  output: MessageOutput,
  created_at_ms: timestamp(),
  metadata: optional(jsonObject()),
})
/** The value form of `MessageRecord`. */
export type MessageRecord = Infer<typeof MessageRecord>

/** One emoji of one actor on one message; its key is the message id, a space, and a digest of actor and emoji. */
export const ReactionRecord = object({
  reaction_id: string(),
  message_id: string(),
  channel_id: string(),
  root_message_id: string(),
  actor_id: string(),
  emoji: string(),
  created_at_ms: timestamp(),
})
/** The value form of `ReactionRecord`. */
export type ReactionRecord = Infer<typeof ReactionRecord>
