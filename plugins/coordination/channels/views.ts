/** Channels, members and messages as clients see them. */
import {
  array,
  boolean,
  doc,
  enums,
  integer,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../core/plugin.js'
import { AttachmentRef, OutputPart } from '../../media/assets/contract.js'
import type {
  ChannelPart,
  ChannelRecord,
  Channels,
  MemberRecord,
  MessageRecord,
  ModerationMetrics,
} from './contract.js'
import { messageIds } from './reading.js'
import { AutonomyPolicy, ParticipationMode } from './record/policy.js'
import { displayNameModes, memberKinds } from './record/record.js'
import type { ChannelStore } from './record/store.js'

/** Members that a view of a channel shows; all are at `/members`. */
const mostShown = 100
/** Characters of the last message that a view of a channel shows. */
const mostPreview = 1_000

export const Member = named(
  'ChannelMember',
  object({
    member_id: string(),
    member_kind: enums(memberKinds),
    display_name_mode: doc(enums(displayNameModes), 'Whether the name stays, or is that of the agent.'),
    display_name: string(),
    session_id: optional(string()),
    actor_id: optional(string()),
    role: optional(string()),
    expertise_tags: optional(array(string())),
    participation_mode: ParticipationMode,
    muted: boolean(),
    joined_at_ms: timestamp(),
  }),
)
export type Member = Infer<typeof Member>

const Reaction = object({
  emoji: string(),
  actor_ids: doc(array(string()), 'The first 100 that gave it.'),
  count: integer({ min: 1 }),
})

export const Message = named(
  'ChannelMessage',
  object({
    message_id: string(),
    channel_id: string(),
    thread_root_message_id: optional(doc(string(), 'Absent where the message opens a thread.')),
    reply_to_message_id: optional(string()),
    sender: object({ id: string(), display_name: optional(string()) }),
    sender_session_id: optional(string()),
    addressed_member_ids: optional(array(string())),
    output: object({ content: string(), parts: array(OutputPart), artifacts: array(AttachmentRef) }),
    created_at_ms: timestamp(),
    reactions: optional(array(Reaction)),
    metadata: optional(jsonObject()),
  }),
)
export type Message = Infer<typeof Message>

const count = () => integer({ min: 0 })
const noMetrics: ModerationMetrics = {
  active_turn_lease_count: 0,
  active_public_speaker_count: 0,
  pending_stimulus_count: 0,
  claimed_stimulus_count: 0,
  active_thread_work_count: 0,
  recent_autonomous_root_posts_1h: 0,
  suppressed_stimulus_count: 0,
}
const Metrics = object({
  active_turn_lease_count: count(),
  active_public_speaker_count: count(),
  pending_stimulus_count: count(),
  claimed_stimulus_count: count(),
  active_thread_work_count: count(),
  recent_autonomous_root_posts_1h: count(),
  suppressed_stimulus_count: count(),
})

export const Channel = named(
  'Channel',
  object({
    channel_id: string(),
    title: string(),
    description: optional(string()),
    purpose: optional(string()),
    member_count: count(),
    message_count: count(),
    last_message_id: optional(string()),
    last_message_preview: optional(doc(string(), `The first ${mostPreview} characters of the last message.`)),
    created_at_ms: timestamp(),
    updated_at_ms: doc(timestamp(), 'When a request changed it last; messages and members change it not.'),
    paused: doc(boolean(), 'True while nobody is asked to speak.'),
    members: doc(array(Member), `The first ${mostShown} by id.`),
    pinned_asset_ids: optional(array(string())),
    created_by: string(),
    autonomy_policy: AutonomyPolicy,
    default_participation_mode: doc(ParticipationMode, 'Of members that come without one.'),
    moderation_metrics: Metrics,
    metadata: optional(jsonObject()),
  }),
)
export type Channel = Infer<typeof Channel>

export interface ViewParts {
  readonly store: ChannelStore
  readonly channels: Channels
  readonly parts: () => readonly ChannelPart[]
}

export const viewOfMember = ({ channel_id: _channel_id, ...member }: MemberRecord): Member => member

const metricsOf = (parts: readonly ChannelPart[], channel_id: string): ModerationMetrics => {
  const sums = { ...noMetrics }
  for (const part of parts) {
    const counted = part.metrics?.(channel_id) ?? {}
    for (const name of metricNames) sums[name] += counted[name] ?? 0
  }
  return sums
}
const metricNames = [
  'active_turn_lease_count',
  'active_public_speaker_count',
  'pending_stimulus_count',
  'claimed_stimulus_count',
  'active_thread_work_count',
  'recent_autonomous_root_posts_1h',
  'suppressed_stimulus_count',
] as const

export const createViews = ({ store, channels, parts }: ViewParts) => ({
  channel(record: ChannelRecord): Channel {
    const { channel_id, created_at_ms, updated_at_ms, paused, title, description, purpose, ...more } = record
    const { paused_at_ms: _paused, resumed_at_ms: _resumed, ...rest } = more
    const [last_message_id] = messageIds(store, { channel_id, limit: 1 })
    const last = last_message_id === undefined ? undefined : channels.message(last_message_id)
    return {
      channel_id,
      title,
      ...(description !== undefined && { description }),
      ...(purpose !== undefined && { purpose }),
      member_count: channels.memberCount(channel_id),
      message_count: store.messages.count('channel', channel_id),
      ...(last !== undefined && {
        last_message_id: last.message_id,
        last_message_preview: Array.from(last.output.content.slice(0, 2 * mostPreview))
          .slice(0, mostPreview)
          .join(''),
      }),
      created_at_ms,
      updated_at_ms,
      paused,
      members: channels.members(channel_id, { limit: mostShown }).map(viewOfMember),
      ...rest,
      moderation_metrics: metricsOf(parts(), channel_id),
    }
  },
  message({ root_message_id, ...record }: MessageRecord): Message {
    const reactions = channels.reactions(record.message_id)
    return {
      ...record,
      ...(root_message_id !== record.message_id && { thread_root_message_id: root_message_id }),
      ...(reactions.length > 0 && {
        reactions: reactions.map(({ actor_ids, ...given }) => ({ ...given, actor_ids: [...actor_ids] })),
      }),
    }
  },
})
export type Views = ReturnType<typeof createViews>
