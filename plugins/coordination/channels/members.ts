/** Who comes into a channel and who leaves it (channels-10 to channels-13). */
import type { Observers, Tx } from '../../../core/plugin.js'
import { isSessionId, type Sessions } from '../../execution/sessions/contract.js'
import type { ChannelPart, Channels, MemberDraft } from './contract.js'
import { channelErrors } from './errors.js'
import type { Names } from './names.js'
import { mostMembers, type MemberRecord } from './record/record.js'
import { within, type ChannelStore } from './record/store.js'
import { nameIn, nameOf, refuse, required } from './refuse.js'

/** Most characters of an id of a member: those of projects hold two ids. */
export const mostMemberId = 420

export interface MemberParts {
  readonly store: ChannelStore
  readonly sessions: Pick<Sessions, 'get'>
  readonly names: Names
  readonly observers: Pick<Observers<ChannelPart>, 'tell'>
  readonly reads: Pick<Channels, 'get' | 'memberOf'>
}

const memberIdOf = (draft: MemberDraft): string => {
  const id = nameOf('member_id', draft.member_id, mostMemberId)
  return isSessionId(id) ? id : refuse('member_id', 'must not be dots, and must not hold slashes and backslashes')
}

const tagsOf = ({ expertise_tags: tags = [] }: MemberDraft): { expertise_tags?: string[] } => {
  const named = tags.flatMap((tag, at) => nameIn(`expertise_tags.${at}`, tag, 100) ?? [])
  return named.length === 0 ? {} : { expertise_tags: [...new Set(named)] }
}

type Who = Pick<MemberRecord, 'member_kind' | 'display_name_mode' | 'display_name' | 'session_id' | 'actor_id'>

const personOf = (draft: MemberDraft, member_id: string): Who => {
  if (draft.session_id !== undefined) refuse('session_id', 'must be absent of a human_actor')
  if (draft.display_name_mode === 'follow_agent') refuse('display_name_mode', 'must be manual of a human_actor')
  return {
    member_kind: 'human_actor',
    display_name_mode: 'manual',
    display_name: nameOf('display_name', draft.display_name),
    actor_id: nameIn('actor_id', draft.actor_id, mostMemberId) ?? member_id,
  }
}

/** Who is called as the agent is follows it, unless something else is asked for. */
const sessionOf = (draft: MemberDraft, member_id: string, { sessions, names }: MemberParts): Who => {
  if (draft.actor_id !== undefined) refuse('actor_id', 'must be absent of a session')
  const { session_id } = sessions.get(nameIn('session_id', draft.session_id) ?? member_id)
  const given = required('display_name', draft.display_name)
  const visible = names.visible(session_id)
  const display_name_mode = draft.display_name_mode ?? (given === visible ? 'follow_agent' : 'manual')
  return {
    member_kind: 'session',
    display_name_mode,
    display_name:
      display_name_mode === 'follow_agent' && visible !== undefined ? visible : nameOf('display_name', given),
    session_id,
  }
}

const isOfProject = (member_id: string): boolean => member_id.startsWith('project:')

/** A session is in a channel once, but for what projects bring (channels-11). */
const checkOnce = ({ members }: ChannelStore, { channel_id, member_id, session_id }: MemberRecord): void => {
  if (session_id === undefined || isOfProject(member_id)) return
  const own = within(channel_id, member_id)
  const others = members.ids('session', within(channel_id, session_id)).filter((key) => key !== own)
  if (others.some((key) => !isOfProject(key.slice(channel_id.length + 1))))
    refuse('session_id', 'is that of another member of this channel')
}

export const createMembers = (parts: MemberParts): Pick<Channels, 'putMember' | 'removeMember'> => {
  const { store, names, observers, reads } = parts
  const { members } = store
  /** Whether a session speaks as this member, and not as one that a project has there. */
  const isSpeaker = ({ channel_id, member_id, session_id }: MemberRecord): boolean =>
    session_id !== undefined && reads.memberOf(channel_id, session_id)?.member_id === member_id
  const tellLeft = (tx: Tx, before: MemberRecord): void => {
    observers.tell(tx, 'hearing of a member that left', (part) => part.left?.(tx, before))
  }
  return {
    putMember(tx, channel_id, draft) {
      const channel = reads.get(channel_id)
      const member_id = memberIdOf(draft)
      const before = members.find(within(channel_id, member_id))
      if (before === undefined && members.count('channel', channel_id) >= mostMembers)
        throw channelErrors.channel_full({ details: { channel_id, most: mostMembers } })
      const role = nameIn('role', draft.role)
      const member: MemberRecord = {
        channel_id,
        member_id,
        ...(draft.member_kind === 'session' ? sessionOf(draft, member_id, parts) : personOf(draft, member_id)),
        ...(role !== undefined && { role }),
        ...tagsOf(draft),
        participation_mode: draft.participation_mode ?? channel.default_participation_mode,
        muted: draft.muted ?? false,
        joined_at_ms: before?.joined_at_ms ?? tx.now,
      }
      checkOnce(store, member)
      const isGone = before !== undefined && before.session_id !== member.session_id && isSpeaker(before)
      tx.put(members, member)
      if (isGone) tellLeft(tx, before)
      return names.current(member)
    },
    removeMember(tx, channel_id, member_id) {
      const before = members.find(within(channel_id, member_id))
      if (before === undefined) return
      const isGone = isSpeaker(before)
      tx.remove(members, within(channel_id, member_id), 'the member left')
      if (isGone) tellLeft(tx, before)
    },
  }
}
