/** What is read of channels, from indexes. What is still being removed is not there. */
import type { Sessions } from '../../execution/sessions/contract.js'
import { channelErrors } from './errors.js'
import type { Channels, Spoken } from './contract.js'
import type { Names } from './names.js'
import type { MemberRecord, MessageRecord } from './record/record.js'
import { channelOf, within, type ChannelStore } from './record/store.js'
import { refuse } from './refuse.js'

type Reads = Omit<Channels, 'post' | 'putMember' | 'removeMember' | 'react'>

/** Members of projects are in a channel beside what their sessions are there themselves. */
const isMirrored = (key: string): boolean => key.slice(key.indexOf('/') + 1).startsWith('project:')

/** Actors that are shown of one emoji. */
const mostActors = 100
/** Emojis that one message has (channels-20). */
export const mostEmojis = 50
/** Records that are read at once. */
const portion = 1_000

export interface ReadParts {
  readonly store: ChannelStore
  readonly names: Names
  readonly sessions: Pick<Sessions, 'find'>
}

export const createReads = ({ store, names, sessions }: ReadParts): Reads => {
  const { channels, members, messages } = store
  const get: Reads['get'] = (channel_id) => {
    const channel = channels.find(channel_id)
    if (channel === undefined) throw channelErrors.channel_not_found({ details: { channel_id } })
    return channel
  }
  const message: Reads['message'] = (message_id, sieve) => {
    const found = messages.find(message_id, sieve)
    return found !== undefined && channels.has(found.channel_id) ? found : undefined
  }
  const known = (keys: readonly string[]): MemberRecord[] =>
    keys.flatMap((key) => {
      const member = members.find(key)
      return member === undefined ? [] : [names.current(member)]
    })
  const own = (keys: readonly string[]): MemberRecord | undefined =>
    known([keys.find((key) => !isMirrored(key)) ?? keys[0] ?? ''])[0]
  return {
    find: (channel_id) => channels.find(channel_id),
    get,
    ids: ({ limit, beyond }) =>
      channels.page({ index: 'all', group: 'all', limit, ...(beyond !== undefined && { beyond }) }),
    member: (channel_id, member_id) =>
      channels.has(channel_id) ? known([within(channel_id, member_id)])[0] : undefined,
    memberBy: (channel_id, id) => {
      const key = within(channel_id, id)
      return channels.has(channel_id)
        ? (known([key])[0] ?? own(members.ids('actor', key)) ?? own(members.ids('session', key)))
        : undefined
    },
    memberOf: (channel_id, session_id) =>
      channels.has(channel_id) ? own(members.ids('session', within(channel_id, session_id))) : undefined,
    person(channel_id, id) {
      const key = within(channel_id, id)
      const person = own(members.ids('actor', key)) ?? known([key])[0]
      if (person?.member_kind === 'human_actor') return person
      const isSession = person !== undefined || members.count('session', key) > 0 || sessions.find(id) !== undefined
      return isSession ? refuse('sender_session_id', 'is required where a session sends') : undefined
    },
    members: (channel_id, { limit, beyond }) =>
      channels.has(channel_id)
        ? members
            .list({ index: 'channel', group: channel_id, limit, ...(beyond !== undefined && { beyond }) })
            .map(names.current)
        : [],
    listeners: (channel_id) => (channels.has(channel_id) ? known(members.ids('listener', channel_id)) : []),
    memberCount: (channel_id) => (channels.has(channel_id) ? members.count('channel', channel_id) : 0),
    ofSession: (session_id) =>
      [...new Set(members.ids('channels', session_id).map(channelOf))].filter((id) => channels.has(id)),
    message,
    getMessage(channel_id, message_id) {
      const found = get(channel_id) && message(message_id)
      if (found?.channel_id === channel_id) return found
      throw channelErrors.channel_message_not_found({ details: { channel_id, message_id } })
    },
    messages: (page) => messageIds(store, page).flatMap((id) => message(id) ?? []),
    spoken: (root_message_id) => (message(root_message_id) === undefined ? [] : spokenIn(store, root_message_id)),
    reactedSince: (root, since) => reactedIn(store, root, since),
    reactions: (message_id) => (message(message_id) === undefined ? [] : reactionsOf(store, message_id)),
  }
}

/** Ids, newest first, without reading a message. */
export const messageIds = (
  { channels, messages }: Pick<ChannelStore, 'channels' | 'messages'>,
  { channel_id, root_message_id, limit, before, ofSessions }: Parameters<Reads['messages']>[0],
): readonly string[] => {
  const isThere = channels.has(channel_id)
  const isHere = root_message_id === undefined || messages.find(root_message_id)?.channel_id === channel_id
  if (!isThere || !isHere) return []
  const [group, of] = root_message_id === undefined ? [channel_id, 'channel'] : [root_message_id, 'thread']
  const index = ofSessions === true ? `${of}_sessions` : of
  return messages.page({ index, group, limit, order: 'desc', ...(before !== undefined && { beyond: before }) })
}

/** Goes from session to session, and looks at the newest message of each alone. */
const spokenIn = ({ messages }: ChannelStore, group: string): Spoken[] => {
  const found: Spoken[] = []
  for (let beyond: string | undefined; ;) {
    const page = { index: 'spoken', group, limit: 1, order: 'desc', ...(beyond !== undefined && { beyond }) } as const
    const [message_id = ''] = messages.page(page)
    const newest: MessageRecord | undefined = messages.find(message_id)
    if (newest?.sender_session_id === undefined) return found
    const session_id = newest.sender_session_id
    found.push({ session_id, message_id, at_ms: newest.created_at_ms })
    beyond = `${session_id}/`
  }
}

const reactedIn = ({ reactions, members }: ChannelStore, group: string, since: string): ReadonlySet<string> => {
  const found = new Set<string>()
  // Keys begin with the id of the message and a blank: those of the message itself come behind its id.
  for (let beyond = since; ;) {
    const some = reactions.list({ index: 'thread', group, limit: portion, beyond })
    for (const { channel_id, actor_id } of some) {
      const session_id = members.find(within(channel_id, actor_id))?.session_id
      found.add(actor_id)
      if (session_id !== undefined) found.add(session_id)
    }
    const last = some.at(-1)
    if (some.length < portion || last === undefined) return found
    beyond = last.reaction_id
  }
}

/** Emojis that a message has, from one to the next. */
export const emojisOf = ({ reactions }: Pick<ChannelStore, 'reactions'>, group: string): readonly string[] => {
  const found: string[] = []
  for (let beyond = ''; found.length < mostEmojis;) {
    const [next] = reactions.list({ index: 'message', group, limit: 1, beyond })
    if (next === undefined) return found
    found.push(next.emoji)
    // The sign behind the line end that divides emoji and actor: beyond all actors of this one.
    beyond = `${next.emoji}\u000b`
  }
  return found
}

const reactionsOf = (store: ChannelStore, message_id: string): ReturnType<Reads['reactions']> =>
  emojisOf(store, message_id).map((emoji) => {
    const group = `${message_id} ${emoji}`
    return {
      emoji,
      actor_ids: store.reactions.list({ index: 'emoji', group, limit: mostActors }).map(({ actor_id }) => actor_id),
      count: store.reactions.count('emoji', group),
    }
  })
