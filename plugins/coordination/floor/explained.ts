/** What a run is that is asked to speak, and why a channel is silent (floor-19, floor-21). */
import { commandLine, count, sentence } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import type { ChannelRecord, Channels, MessageRecord } from '../channels/contract.js'
import type { LeaseRecord } from './record/lease.js'
import type { FloorStore } from './record/store.js'
import { repliesOf } from './turns/arbitration.js'
import { quoted } from './turns/told.js'

interface ExplainedParts {
  readonly store: FloorStore
  readonly channels: Channels
}

/** Turns of a channel that are followed. */
const mostTurns = 20

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

/** The newest message of a person in the thread of another one, and how many agents have said behind it. */
const answered = (
  { channels }: ExplainedParts,
  { channel_id, autonomy_policy }: ChannelRecord,
  { root_message_id }: MessageRecord,
): { readonly human: MessageRecord; readonly said: number } | undefined => {
  const newest = channels.messages({ channel_id, root_message_id, limit: repliesOf(autonomy_policy) + 1 })
  const said = newest.findIndex(({ sender_session_id }) => sender_session_id === undefined)
  const human = newest[said]
  return human && { human, said }
}

const silence = (parts: ExplainedParts, channel: ChannelRecord): Reason => {
  const { channels, store } = parts
  const { channel_id } = channel
  const follow = [commandLine('channels follow', channel_id)]
  if (channels.listeners(channel_id).length === 0)
    return {
      code: 'nobody_listens',
      text: 'No session of it may be asked: add one, or change its mode from manual_only or its muting.',
      commands: [commandLine('channels members list', channel_id)],
    }
  if (store.firstCall(channel_id) !== undefined)
    return { code: 'call', text: 'It is being decided who is asked.', commands: follow }
  const [last] = channels.messages({ channel_id, limit: 1 })
  if (last === undefined) return { code: 'nothing_said', text: 'Nothing has been said in it yet.', commands: follow }
  const found = answered(parts, channel, last)
  if (found === undefined || found.said >= repliesOf(channel.autonomy_policy))
    return {
      code: 'replies_used',
      text: 'As many messages of agents follow the last one of a person as may: they go on when a person speaks.',
      commands: [commandLine(`channels post --thread ${last.root_message_id}`, channel_id, 'ACTOR', 'TEXT')],
    }
  return {
    code: 'nobody_asked',
    text: sentence(
      `Nobody is left to be asked about ${found.human.message_id}, behind which ` +
        `${count(found.said, 'message')} of agents came: others had nothing to say, or spoke just before`,
    ),
    commands: follow,
  }
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
    ...turns.map(({ holder_session_id, active_run_id }) => ({
      code: 'speaks',
      text: `The session ${quoted(holder_session_id)} has the floor.`,
      leads_to: [active_run_id],
    })),
    ...(paused || turns.length > 0 ? [] : [silence(parts, channel)]),
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
