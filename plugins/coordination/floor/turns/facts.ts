/** Looks up what a turn depends on: in indexes, so that it costs the same however long the history is. */
import type { Runs } from '../../../execution/runs/contract.js'
import type { Sessions } from '../../../execution/sessions/contract.js'
import type { AutonomyPolicy, ChannelRecord, Channels, MemberRecord, MessageRecord } from '../../channels/contract.js'
import { mayBeAsked, priorities, ranked, repliesOf, type Candidate } from './arbitration.js'
import { mostMessages, type ToldFacts } from './told.js'

export interface FactParts {
  readonly channels: Channels
  readonly runs: Runs
  readonly sessions: Sessions
}

/** A message of a person in a channel that is there and not paused. */
export interface Asked {
  readonly channel: ChannelRecord
  readonly human: MessageRecord
}

const sessionOf = ({ channels }: FactParts, channel_id: string, member_id: string): string | undefined =>
  channels.member(channel_id, member_id)?.session_id

/** The newest agent that spoke before a message, if it is still there. */
const spokeBefore = (
  { channels }: FactParts,
  { channel_id, message_id }: MessageRecord,
  root_message_id?: string,
): string | undefined => {
  const [last] = channels.messages({
    channel_id,
    limit: 1,
    before: message_id,
    ofSessions: true,
    ...(root_message_id !== undefined && { root_message_id }),
  })
  const author = last?.sender_session_id
  return author !== undefined && channels.memberOf(channel_id, author) !== undefined ? author : undefined
}

/** Sessions that come first when a message is answered. `before`: those that came first in its thread until now. */
export const priorityOf = (parts: FactParts, human: MessageRecord, before: readonly string[]): readonly string[] => {
  const { channel_id, root_message_id, message_id, reply_to_message_id, addressed_member_ids = [] } = human
  const parent = reply_to_message_id === undefined ? undefined : parts.channels.message(reply_to_message_id)
  const author = parent?.sender_session_id
  const isThere = author !== undefined && parts.channels.memberOf(channel_id, author) !== undefined
  const addressed = addressed_member_ids.flatMap((id) => sessionOf(parts, channel_id, id) ?? [])
  return priorities({
    addressed: [...new Set(addressed)],
    replied_to: isThere ? author : undefined,
    in_thread: spokeBefore(parts, human, root_message_id),
    in_channel: message_id === root_message_id ? spokeBefore(parts, human) : undefined,
    before,
  })
}

/** Messages of agents behind one of a person, as far as they count. */
export const saidBehind = ({ channels }: FactParts, policy: AutonomyPolicy, human: MessageRecord): number => {
  const { channel_id, root_message_id, message_id } = human
  const newest = channels.messages({ channel_id, root_message_id, limit: repliesOf(policy), ofSessions: true })
  return newest.filter((one) => one.message_id > message_id).length
}

/** Whom to ask about a message. */
export interface Wish extends Asked {
  readonly priority: readonly string[]
  readonly excluded: ReadonlySet<string>
  readonly now: number
}

/** Counts the open runs of very many sessions: from the runs where these are fewer. */
const openRuns = (runs: Runs, sessions: number): ((session_id: string) => number) => {
  const open = runs.open()
  if (open.length > sessions) return (session_id) => runs.openIn(session_id).length
  const counts = new Map<string, number>()
  for (const run_id of open) {
    const session_id = runs.find(run_id)?.session_id
    if (session_id !== undefined) counts.set(session_id, (counts.get(session_id) ?? 0) + 1)
  }
  return (session_id) => counts.get(session_id) ?? 0
}

export const rankedFor = (parts: FactParts, { channel, human, priority, excluded, now }: Wish): string[] => {
  const { channels, runs } = parts
  const { channel_id } = channel
  const { root_message_id, message_id } = human
  const spoken = new Map(channels.spoken(root_message_id).map((one) => [one.session_id, one]))
  const reacted = channels.reactedSince(root_message_id, message_id)
  const listeners = channels.listeners(channel_id)
  let counted: ReturnType<typeof openRuns> | undefined
  const runsOf = (session_id: string): number => (counted ??= openRuns(runs, listeners.length))(session_id)
  const candidates = listeners.flatMap(({ session_id, participation_mode, muted }): Candidate[] => {
    if (session_id === undefined) return []
    const last = spoken.get(session_id)
    return [
      {
        session_id,
        mode: participation_mode,
        muted,
        spoke_at_ms: last?.at_ms,
        commented: last !== undefined && last.message_id > message_id,
        reacted: reacted.has(session_id),
        open_runs: () => runsOf(session_id),
      },
    ]
  })
  const { member_cooldown_ms: cooldown_ms } = channel.autonomy_policy
  return ranked(candidates, { now, priority, cooldown_ms, excluded })
}

/** True of a member that may be asked now although nobody ranks it anew. */
export const isEligible = ({ channels }: FactParts, channel_id: string, session_id: string): boolean => {
  const member = channels.memberOf(channel_id, session_id)
  return member !== undefined && mayBeAsked({ mode: member.participation_mode, muted: member.muted })
}

/** True of a session whose runs may begin. */
export const isOpen = ({ sessions }: FactParts, session_id: string): boolean => {
  const session = sessions.find(session_id)
  return session !== undefined && session.ended_at_ms === undefined
}

/** Members of a roster that are looked up, whatever of them is told; those of them who spoke or are addressed. */
const [mostRoster, mostNear] = [256, 100]

const rosterOf = ({ channels }: FactParts, { human, thread }: Pick<ToldFacts, 'human' | 'thread'>): MemberRecord[] => {
  const { channel_id, root_message_id, addressed_member_ids = [] } = human
  const found = new Map<string, MemberRecord>()
  let most = mostNear
  const add = (member: MemberRecord | undefined): void => {
    if (member !== undefined && found.size < most) found.set(member.member_id, member)
  }
  for (const id of addressed_member_ids.slice(0, mostNear)) add(channels.member(channel_id, id))
  for (const { message } of thread) {
    const { sender, sender_session_id } = message
    add(
      sender_session_id === undefined
        ? channels.memberBy(channel_id, sender.id)
        : channels.memberOf(channel_id, sender_session_id),
    )
  }
  for (const { session_id } of channels.spoken(root_message_id).slice(0, mostNear))
    add(channels.memberOf(channel_id, session_id))
  most = mostRoster
  for (const member of channels.members(channel_id, { limit: mostRoster })) add(member)
  return [...found.values()]
}

/** What a member is told of a thread as it is now. */
export const factsFor = (
  parts: FactParts,
  { channel, human }: Asked,
  { member, origin }: Pick<ToldFacts, 'member' | 'origin'>,
): ToldFacts => {
  const { channels } = parts
  const { channel_id } = channel
  const { root_message_id, addressed_member_ids = [] } = human
  const thread = channels
    .messages({ channel_id, root_message_id, limit: mostMessages })
    .toReversed()
    .map((message) => ({
      message,
      reactions: channels.reactions(message.message_id),
    }))
  const addressed = addressed_member_ids.slice(0, mostNear).flatMap((id) => channels.member(channel_id, id) ?? [])
  return {
    channel,
    member,
    member_count: channels.memberCount(channel_id),
    roster: rosterOf(parts, { human, thread }),
    addressed,
    human,
    origin,
    thread,
    answered: channels
      .spoken(root_message_id)
      .some(({ session_id, message_id }) => session_id !== member.session_id && message_id > human.message_id),
  }
}
