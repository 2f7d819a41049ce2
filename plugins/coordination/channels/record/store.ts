/** Where channels are kept: a record each, and one for each member, message, reaction and named asset. */
import {
  object,
  string,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type State,
} from '../../../../core/plugin.js'
import { aliasOf } from './addressing.js'
import { assetCollection, type ChannelAsset } from './assets.js'
import { ChannelRecord, MemberRecord, MessageRecord, ReactionRecord } from './record.js'

const all = 'all'

const channelCollection: CollectionSpec<ChannelRecord> = {
  name: 'channels',
  version: 1,
  id: ({ channel_id }) => channel_id,
  indexes: { all: { group: () => all } },
  settled: () => true,
  removed: 'forgotten',
  schema: ChannelRecord,
}

/** Of something in a channel: ids of channels hold no slash. */
export const within = (channel_id: string, what: string): string => `${channel_id}/${what}`
export const channelOf = (key: string): string => key.slice(0, key.indexOf('/'))

const mayBeAsked = ({ member_kind, muted, participation_mode }: MemberRecord): boolean =>
  member_kind === 'session' && !muted && participation_mode !== 'manual_only'
const aliasGroup = (channel_id: string, name: string): string | undefined => {
  const alias = aliasOf(name)
  return alias === '' ? undefined : within(channel_id, alias)
}

const memberCollection: CollectionSpec<MemberRecord> = {
  name: 'channel_members',
  version: 2,
  id: ({ channel_id, member_id }) => within(channel_id, member_id),
  indexes: {
    channel: { group: ({ channel_id }) => channel_id, sort: ({ member_id }) => member_id },
    listener: { group: (member) => (mayBeAsked(member) ? member.channel_id : undefined) },
    session: {
      group: ({ channel_id, session_id }) => (session_id === undefined ? undefined : within(channel_id, session_id)),
    },
    channels: { group: ({ session_id }) => session_id },
    actor: { group: ({ channel_id, actor_id }) => (actor_id === undefined ? undefined : within(channel_id, actor_id)) },
    called_id: { group: ({ channel_id, member_id }) => aliasGroup(channel_id, member_id) },
    called_name: { group: ({ channel_id, display_name }) => aliasGroup(channel_id, display_name) },
    following: {
      group: ({ display_name_mode, session_id }) => (display_name_mode === 'follow_agent' ? session_id : undefined),
    },
  },
  removed: 'forgotten',
  schema: MemberRecord,
  references: ({ session_id }) => (session_id === undefined ? [] : [{ collection: 'sessions', id: session_id }]),
}

const saidBySession = <T>({ sender_session_id }: MessageRecord, group: T): T | undefined =>
  sender_session_id === undefined ? undefined : group

const messageCollection: CollectionSpec<MessageRecord> = {
  name: 'channel_messages',
  version: 1,
  id: ({ message_id }) => message_id,
  indexes: {
    channel: { group: ({ channel_id }) => channel_id },
    thread: { group: ({ root_message_id }) => root_message_id },
    channel_sessions: { group: (message) => saidBySession(message, message.channel_id) },
    thread_sessions: { group: (message) => saidBySession(message, message.root_message_id) },
    spoken: {
      group: (message) => saidBySession(message, message.root_message_id),
      sort: ({ sender_session_id = '', message_id }) => `${sender_session_id}/${message_id}`,
    },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: MessageRecord,
}

const reactionCollection: CollectionSpec<ReactionRecord> = {
  name: 'channel_reactions',
  version: 1,
  id: ({ reaction_id }) => reaction_id,
  indexes: {
    channel: { group: ({ channel_id }) => channel_id },
    message: { group: ({ message_id }) => message_id, sort: ({ emoji, actor_id }) => `${emoji}\n${actor_id}` },
    thread: { group: ({ root_message_id }) => root_message_id },
    emoji: { group: ({ message_id, emoji }) => `${message_id} ${emoji}`, sort: ({ actor_id }) => actor_id },
  },
  settled: () => true,
  removed: 'forgotten',
  schema: ReactionRecord,
}

/** A channel that is gone, while what it held goes (channels-9). */
const Removal = object({ channel_id: string(), removed_at_ms: timestamp() })
type Removal = Infer<typeof Removal>
const removalCollection: CollectionSpec<Removal> = {
  name: 'channel_removals',
  version: 1,
  id: ({ channel_id }) => channel_id,
  indexes: { all: { group: () => all } },
  removed: 'forgotten',
  schema: Removal,
}

/** The collections of channels. */
export interface ChannelStore {
  readonly channels: Collection<ChannelRecord>
  readonly members: Collection<MemberRecord>
  readonly messages: Collection<MessageRecord>
  readonly reactions: Collection<ReactionRecord>
  readonly assets: Collection<ChannelAsset>
  readonly removals: Collection<Removal>
}

export const declareChannels = (state: State): ChannelStore => ({
  channels: state.collection(channelCollection),
  members: state.collection(memberCollection),
  messages: state.collection(messageCollection),
  reactions: state.collection(reactionCollection),
  assets: state.collection(assetCollection),
  removals: state.collection(removalCollection),
})
