/** Public conversations: channels, members, messages, reactions. Rules: docs/rules/channels.md. */
import {
  answerOf,
  asItIs,
  definePoint,
  defineToken,
  hasMembers,
  integer,
  record,
  string,
  withAnswers,
  type JsonObject,
  type Point,
  type Sieve,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import type { ChannelRecord, MemberRecord, MessageOutput, MessageRecord } from './record/record.js'

/** Problems of channels, for routes of other plugins. */
export { channelErrors } from './errors.js'
/** Bounds of what agents say, and who may be asked to speak. */
export { AutonomyPolicy, ParticipationMode, participationModes } from './record/policy.js'
/** Names in requests of channels, and the refusal of one field of them. */
export { nameIn, refuse } from './refuse.js'
/** Messages and other text of channels, for terminals. */
export { messageText, ShownMessage } from './terminal/message-text.js'
export { namesIn, speakersOf } from './terminal/names-in.js'
/** Most members of a channel. */
export { mostMembers } from './record/record.js'
/** What is kept of channels. */
export type { ChannelRecord, MemberRecord, MessageOutput, MessageRecord } from './record/record.js'

/** A member that a plugin wants to be in a channel; what is absent has its default, as in a request. */
export interface MemberDraft {
  readonly member_id: string
  readonly member_kind: MemberRecord['member_kind']
  readonly display_name: string
  readonly display_name_mode?: MemberRecord['display_name_mode'] | undefined
  readonly session_id?: string | undefined
  readonly actor_id?: string | undefined
  readonly role?: string | undefined
  readonly expertise_tags?: readonly string[] | undefined
  readonly participation_mode?: MemberRecord['participation_mode'] | undefined
  readonly muted?: boolean | undefined
}

/** A message that a plugin posts. Its place in a thread follows from what it replies to, or the root that is named. */
export interface PostDraft {
  readonly channel_id: string
  readonly sender: MessageRecord['sender']
  /** Of a session member; without it a person, or the daemon, says it. */
  readonly sender_session_id?: string | undefined
  readonly root_message_id?: string | undefined
  readonly reply_to_message_id?: string | undefined
  readonly addressed_member_ids?: readonly string[] | undefined
  readonly output: MessageOutput
  readonly metadata?: JsonObject | undefined
  /** False: nobody is asked to answer. Else those are who may, unless a session says it. */
  readonly calls?: boolean | undefined
}

/** Messages of a thread or channel, newest first: at most `limit`, older than the message `before` if one is named. */
export interface MessagePage {
  readonly channel_id: string
  readonly root_message_id?: string | undefined
  readonly limit: number
  readonly before?: string | undefined
  /** Those of session members alone. */
  readonly ofSessions?: true
}

/** What a session has done in a thread. */
export interface Spoken {
  readonly session_id: string
  /** Its newest message there. */
  readonly message_id: string
  readonly at_ms: number
}

/** The channels of this daemon. Reads come from indexes: what they cost does not grow with the history. */
export interface Channels {
  find(channel_id: string): ChannelRecord | undefined
  /** Throws `channel_not_found` (404). */
  get(channel_id: string): ChannelRecord
  /** Ids in order, behind one if it is named. */
  ids(page: { readonly limit: number; readonly beyond?: string | undefined }): readonly string[]
  member(channel_id: string, member_id: string): MemberRecord | undefined
  /** The member that has one of its ids: its `member_id`, else its `actor_id`, else its `session_id`. */
  memberBy(channel_id: string, id: string): MemberRecord | undefined
  /** The member that a session is in a channel. A session is in it once at most, but for members of projects. */
  memberOf(channel_id: string, session_id: string): MemberRecord | undefined
  /** The person who has the id there; throws 400 `channel_invalid_request` where it is that of a session, of any. */
  person(channel_id: string, id: string): MemberRecord | undefined
  /** By id, behind one if it is named. */
  members(channel_id: string, page: { readonly limit: number; readonly beyond?: string | undefined }): MemberRecord[]
  /** Session members that may be asked to speak: not muted, and of another mode than `manual_only`. */
  listeners(channel_id: string): readonly MemberRecord[]
  memberCount(channel_id: string): number
  /** Channels that a session is a member of. */
  ofSession(session_id: string): readonly string[]
  /** Undefined, too, where the sieve says no to it. */
  message(message_id: string, sieve?: Sieve): MessageRecord | undefined
  /** Throws `channel_message_not_found` (404) for one that is not in this channel. */
  getMessage(channel_id: string, message_id: string): MessageRecord
  messages(page: MessagePage): readonly MessageRecord[]
  /** The newest message of each session that spoke in a thread. */
  spoken(root_message_id: string): readonly Spoken[]
  /** Sessions and actors that reacted in a thread to a message or to one that came behind it. */
  reactedSince(root_message_id: string, message_id: string): ReadonlySet<string>
  /** Emojis of a message with who gave them, sorted. */
  reactions(message_id: string): readonly GivenEmoji[]
  /** Posts in a commit. Throws the problems of `POST /v1/channels/{channel_id}/messages`. */
  post(tx: Tx, draft: PostDraft): MessageRecord
  /** Adds or replaces a member in a commit. Throws the problems of `POST /v1/channels/{channel_id}/members`. */
  putMember(tx: Tx, channel_id: string, draft: MemberDraft): MemberRecord
  /** Takes a member out in a commit; no effect if it is not there. */
  removeMember(tx: Tx, channel_id: string, member_id: string): void
  /** Adds an emoji of an actor to a message in a commit, or takes it away; no effect if it is as wanted. */
  react(tx: Tx, wish: ReactionWish): void
}
/** An emoji that a message has: how many gave it, and the first 100 of them. */
export interface GivenEmoji {
  readonly emoji: string
  readonly actor_ids: readonly string[]
  readonly count: number
}
/** One emoji of one actor. */
export interface ReactionWish {
  readonly message: MessageRecord
  readonly actor_id: string
  readonly emoji: string
  readonly is: 'set' | 'unset'
}
/** The channels of this daemon. */
export const Channels: Token<Channels> = defineToken<Channels>('channels@1')

/** What channels are counted by, as their views show it. */
export interface ModerationMetrics {
  readonly active_turn_lease_count: number
  readonly active_public_speaker_count: number
  readonly pending_stimulus_count: number
  readonly claimed_stimulus_count: number
  readonly active_thread_work_count: number
  readonly recent_autonomous_root_posts_1h: number
  readonly suppressed_stimulus_count: number
}

/** A plugin that keeps something of channels, or keeps them. Its methods are fast; those with a commit may throw. */
export interface ChannelPart {
  readonly id: string
  /** What it counts of a channel. Must not throw. */
  metrics?(channel_id: string): Partial<ModerationMetrics>
  /** Called in the commit that adds a message. */
  posted?(tx: Tx, message: MessageRecord, draft: PostDraft): void
  /** Called in the commit that changes a channel, such as one that pauses it or lets it go on. */
  changed?(tx: Tx, channel: ChannelRecord): void
  /** Called in the commit in which the member goes that a session speaks as; a project may have it there still. */
  left?(tx: Tx, member: MemberRecord): void
  /** Why a channel must stay, as the end of a sentence: "the project p1 links it". Undefined if it may go. */
  veto?(channel_id: string): string | undefined
  /**
   * Called in the commit in which a channel goes, with what is bounded. What may be long it removes in portions:
   * `sweep` is called until it gives true, also by later lives, and the id does not come again before.
   */
  removed?(tx: Tx, channel_id: string): void
  sweep?(tx: Tx, channel_id: string): boolean
}
/** Everyone who keeps something of channels. */
export const ChannelParts: Point<ChannelPart> = withAnswers(
  definePoint<ChannelPart>('channel-parts@1', ({ id }) => id, hasMembers('a part of channels', { id: 'id' })),
  {
    metrics: answerOf(record(integer()), {}),
    veto: answerOf(string(), undefined, {
      named: (plugin) => `the plugin ${plugin} cannot say whether it may go`,
    }),
    posted: asItIs,
    changed: asItIs,
    left: asItIs,
    removed: asItIs,
    sweep: asItIs,
  },
)
