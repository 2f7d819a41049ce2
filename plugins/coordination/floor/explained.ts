/** What a run is that is asked to speak, and why a channel is silent (floor-19, floor-21). */
import { commandLine, count, Problem, sentence, shellWord } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import type { ChannelRecord, Channels, MemberRecord, MessageRecord } from '../channels/contract.js'
import type { LeaseRecord } from './record/lease.js'
import type { FloorStore } from './record/store.js'
import type { Failure } from './retries.js'
import { repliesOf } from './turns/arbitration.js'
import { quoted } from './turns/told.js'

interface ExplainedParts {
  readonly store: FloorStore
  readonly channels: Channels
  readonly runs: Pick<Runs, 'failedTurns'>
  readonly sessions: Pick<Sessions, 'find'>
  readonly failure: (channel_id: string) => Failure | undefined
}

/** Turns of a channel that are followed. */
const mostTurns = 20
/** Sessions that are named of those that ended, and of those whose turn failed. */
const mostNamed = 5

const turnReason = (lease: LeaseRecord, runs: boolean): Reason => {
  const { channel_id, queued_candidate_session_ids: queue, expires_at_ms } = lease
  const { origin_message_id: message, thread_root_message_id: thread } = lease
  const clock = runs ? 'then the next one may be asked' : 'its time does not run while it waits'
  const where = message === thread ? '' : ` in the thread of ${thread}`
  return {
    code: 'turn',
    text: sentence(
      `It has the floor in the channel ${quoted(channel_id)} to answer ${message}${where}, ` +
        `${count(queue.length, 'session')} behind it; ${clock}`,
    ),
    ...(runs && { until_ms: expires_at_ms }),
    commands: [commandLine('channels follow', channel_id), commandLine('channels leases', channel_id)],
  }
}

/** A message of a person, and how many agents have said behind it. */
interface Answered {
  readonly human: MessageRecord
  readonly said: number
}

/** The newest message of a person in the thread of another one. */
const answered = (
  { channels }: ExplainedParts,
  { channel_id, autonomy_policy }: ChannelRecord,
  { root_message_id }: MessageRecord,
): Answered | undefined => {
  const newest = channels.messages({ channel_id, root_message_id, limit: repliesOf(autonomy_policy) + 1 })
  const said = newest.findIndex(({ sender_session_id }) => sender_session_id === undefined)
  const human = newest[said]
  return human && { human, said }
}

/** How a person asks one member again. */
const asking = ({ channel_id, root_message_id }: MessageRecord, member_id: string): string =>
  commandLine(`channels post --thread ${root_message_id} --to ${shellWord(member_id)}`, channel_id, 'MEMBER', 'TEXT')

/** Turns about a message of a person whose run failed: they said nothing. */
const failedTurns = ({ runs, channels }: ExplainedParts, human: MessageRecord): readonly Reason[] =>
  runs.failedTurns(human.message_id, mostNamed).map(({ run_id, session_id }) => {
    const member = channels.memberOf(human.channel_id, session_id)
    return {
      code: 'turn_failed',
      text: `The turn of ${quoted(member?.display_name ?? session_id)} about ${human.message_id} failed.`,
      commands: [commandLine('runs get', run_id), ...(member === undefined ? [] : [asking(human, member.member_id)])],
    }
  })

const isOpen = ({ sessions }: ExplainedParts, session_id: string): boolean => {
  const session = sessions.find(session_id)
  return session !== undefined && session.ended_at_ms === undefined
}

/** Members that would be asked if their session had not ended. */
const endedReasons = (ended: readonly MemberRecord[]): readonly Reason[] =>
  ended.slice(0, mostNamed).map(({ display_name, session_id = '' }, at) => {
    const more = at === mostNamed - 1 ? ended.length - mostNamed : 0
    return {
      code: 'session_ended',
      text:
        `The session of ${quoted(display_name)} has ended, so it is not asked` +
        (more > 0 ? `, and so have those of ${more} more.` : '.'),
      commands: [commandLine('sessions create', session_id)],
    }
  })

/** Why nobody is asked about a message of a person behind which the channel was paused; undefined where it was not. */
const pauseText = (
  { paused_at_ms = 0, resumed_at_ms = 0 }: ChannelRecord,
  { message_id, created_at_ms }: MessageRecord,
): string | undefined => {
  if (resumed_at_ms === 0 || created_at_ms > resumed_at_ms) return undefined
  if (created_at_ms > paused_at_ms)
    return `Nobody is asked about ${message_id}: it was said while the channel was paused, when messages call nobody.`
  return (
    `Nobody is asked about ${message_id} any more: the channel was paused behind it, whoever was still to be asked ` +
    'then was dropped, and what was said meanwhile called nobody.'
  )
}

/** How it stands with deciding who is asked. */
const decision = (failure: Failure | undefined): Omit<Reason, 'commands'> => {
  if (failure === undefined) return { code: 'call', text: 'It is being decided who is asked.' }
  const { times, error, retry_at_ms: until_ms } = failure
  const why = error instanceof Problem ? error.message : 'by a fault that the log tells'
  const text = `Deciding who is asked has failed ${count(times, 'time')} and is tried again: ${why}`
  return { code: 'call_failed', text: sentence(text), until_ms }
}

const exhausted = ({ human, said }: Answered, someFailed: boolean): string =>
  `Nobody is left to be asked about ${human.message_id}. ` +
  (said === 0 ? 'No agent has answered it' : `Agents have answered it with ${count(said, 'message')}`) +
  `, and each ${someFailed ? 'other ' : ''}session that may be asked had nothing to say, could not begin, ` +
  'or had just spoken.'

/** What keeps others from being asked who listen. */
const stillness = (parts: ExplainedParts, channel: ChannelRecord, open: readonly MemberRecord[]): readonly Reason[] => {
  const { channels, store } = parts
  const { channel_id } = channel
  const follow = [commandLine('channels follow', channel_id)]
  if (store.firstCall(channel_id) !== undefined) return [{ ...decision(parts.failure(channel_id)), commands: follow }]
  const [last] = channels.messages({ channel_id, limit: 1 })
  if (last === undefined) return [{ code: 'nothing_said', text: 'Nothing has been said in it yet.', commands: follow }]
  const found = answered(parts, channel, last)
  if (found === undefined || found.said >= repliesOf(channel.autonomy_policy))
    return [
      {
        code: 'replies_used',
        text: 'As many messages of agents follow the last one of a person as may: they go on when a person speaks.',
        commands: [commandLine(`channels post --thread ${last.root_message_id}`, channel_id, 'MEMBER', 'TEXT')],
      },
    ]
  const failed = failedTurns(parts, found.human)
  if (failed.length >= open.length) return failed
  const commands = open.slice(0, 1).map(({ member_id }) => asking(found.human, member_id))
  const paused = pauseText(channel, found.human)
  if (paused !== undefined) return [...failed, { code: 'paused_since', text: paused, commands }]
  return [...failed, { code: 'nobody_asked', text: exhausted(found, failed.length > 0), commands }]
}

const silence = (parts: ExplainedParts, channel: ChannelRecord): readonly Reason[] => {
  const { channel_id } = channel
  const listeners = parts.channels.listeners(channel_id)
  if (listeners.length === 0)
    return [
      {
        code: 'nobody_listens',
        text:
          'No member may be asked: each is a person, muted, or of the mode manual_only. Add a session, or add such a ' +
          'member once more, unmuted and with another mode.',
        commands: [commandLine('channels members list', channel_id)],
      },
    ]
  const [open, gone]: [MemberRecord[], MemberRecord[]] = [[], []]
  for (const member of listeners) (isOpen(parts, member.session_id ?? '') ? open : gone).push(member)
  const ended = endedReasons(gone)
  return open.length === 0 ? ended : [...stillness(parts, channel, open), ...ended]
}

const channelReasons = (parts: ExplainedParts, channel: ChannelRecord): readonly Reason[] => {
  const { channel_id, paused } = channel
  const turns = parts.store.inChannel(channel_id, mostTurns)
  return [
    ...(paused
      ? [
          {
            code: 'channel_paused',
            text: 'It is paused: nobody is asked.',
            commands: [commandLine('channels update --resume', channel_id)],
          },
        ]
      : []),
    ...turns.map(({ holder_session_id, thread_root_message_id, active_run_id }) => ({
      code: 'speaks',
      text: `The session ${quoted(holder_session_id)} has the floor in the thread of ${thread_root_message_id}.`,
      leads_to: [active_run_id],
    })),
    ...(paused || turns.length > 0 ? [] : silence(parts, channel)),
  ]
}

export const floorReasons = (parts: ExplainedParts): ReasonSource => ({
  id: 'floor',
  of({ kind, id, status }) {
    if (kind === 'run') {
      const lease = parts.store.ofRun(id)
      return lease === undefined ? [] : [turnReason(lease, status === 'running')]
    }
    const channel = kind === 'channel' ? parts.channels.find(id) : undefined
    return channel === undefined ? [] : channelReasons(parts, channel)
  },
})

/** How a channel is named where a session has its id, too. */
const prefix = 'channel:'

const subjectOf = ({ store }: ExplainedParts, { channel_id, paused, title }: ChannelRecord): Subject => {
  const speaks = store.inChannel(channel_id, 1).length > 0
  const [status, what] = speaks
    ? ['speaking', 'somebody has the floor']
    : paused
      ? ['paused', 'nobody is asked to speak']
      : ['quiet', 'nobody has the floor']
  return { kind: 'channel', id: channel_id, status, text: `In the channel ${quoted(title)} ${what}.` }
}

export const channelSubjects = (parts: ExplainedParts): SubjectSource => ({
  id: 'channels',
  find(id) {
    const channel = parts.channels.find(id.startsWith(prefix) ? id.slice(prefix.length) : id)
    return channel && subjectOf(parts, channel)
  },
})
