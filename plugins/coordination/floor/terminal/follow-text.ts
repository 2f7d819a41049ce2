/** A channel as it stands, and what is said in it, as text for terminals. */
import {
  array,
  boolean,
  commandLine,
  count,
  idWord,
  integer,
  open,
  optional,
  showTime,
  string,
  visibleLine,
  type Infer,
  beginning,
  folded,
} from '../../../../core/plugin.js'
import { reasonLines } from '../../../operator/explanations/contract.js'

export const ShownChannel = open({
  channel_id: string(),
  title: string(),
  member_count: integer(),
  message_count: integer(),
  last_message_id: optional(string()),
  paused: boolean(),
  moderation_metrics: open({ pending_stimulus_count: integer() }),
})
export type ShownChannel = Infer<typeof ShownChannel>

export const Lease = open({
  turn_id: string(),
  thread_root_message_id: string(),
  origin_message_id: string(),
  holder_session_id: string(),
  active_run_id: string(),
  remaining_reply_budget: integer(),
  expires_at_ms: integer(),
  queued_candidate_session_ids: array(string()),
})
export type Lease = Infer<typeof Lease>

export const Stimulus = open({
  kind: string(),
  content: string(),
  available_at_ms: integer(),
  last_error: optional(string()),
})
export type Stimulus = Infer<typeof Stimulus>

/** What is told of the run of a turn. */
export const Told = open({
  subjects: array(
    open({
      status: string(),
      since_ms: optional(integer()),
      reasons: array(
        open({
          code: string(),
          text: string(),
          since_ms: optional(integer()),
          until_ms: optional(integer()),
          commands: optional(array(string())),
        }),
      ),
    }),
  ),
})

/** A turn with what is known of its run. */
export interface Turn {
  readonly lease: Lease
  readonly run?: Infer<typeof Told>['subjects'][number] | undefined
}

type Reason = NonNullable<Turn['run']>['reasons'][number]

/** What stands below the messages. */
export interface Scene {
  readonly channel: ShownChannel
  readonly turns: readonly Turn[]
  /** Why there is none. */
  readonly silence: readonly Reason[]
  /** Turns beyond those. */
  readonly more: number
  /** Those that wait and are due first, as far as they are shown. */
  readonly stimuli: readonly Stimulus[]
  /** What sessions of turns are called, by their ids. */
  readonly names: ReadonlyMap<string, string>
  readonly now: number
}

/** Sessions that wait for the floor and are named, and characters of a stimulus. */
const [mostNamed, mostContent] = [5, 200]

/** Those whose runs wait for a person, then the others, each in the order in which they were granted. */
export const inOrder = (leases: readonly Lease[], asking: ReadonlySet<string>): readonly Lease[] => {
  const granted = leases.toSorted((one, other) => (one.turn_id < other.turn_id ? -1 : 1))
  const asks = ({ active_run_id }: Lease): boolean => asking.has(active_run_id)
  return [...granted.filter(asks), ...granted.filter((lease) => !asks(lease))]
}

/** The sessions of a turn that are named. */
export const namedIn = ({ holder_session_id, queued_candidate_session_ids: queue }: Lease): readonly string[] => [
  holder_session_id,
  ...queue.slice(0, mostNamed),
]

const queueText = (names: ReadonlyMap<string, string>, { queued_candidate_session_ids: queue }: Lease): string => {
  const shown = queue.slice(0, mostNamed).map((id) => visibleLine(names.get(id) ?? id))
  const more = queue.length - shown.length
  return queue.length === 0 ? 'nobody' : [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ')
}

/** A person is asked for something. */
const asksPerson = ({ code }: Reason): boolean => code === 'approval' || code === 'question'

const holderOf = (names: ReadonlyMap<string, string>, { holder_session_id: id }: Lease): string =>
  visibleLine(names.get(id) ?? id)

/** Lines to paste stand before what others wrote: they are seen however few rows there are. */
const askingLines = ({ names }: Scene, { lease, run }: Turn, columns: number): string[] => {
  const asked = run?.reasons.filter(asksPerson) ?? []
  if (asked.length === 0) return []
  return [
    folded(`${holderOf(names, lease)} waits for a person`, columns),
    ...asked.flatMap((reason) => {
      const [text = '', ...commands] = reasonText(reason, columns)
      return [...commands, text]
    }),
  ]
}

const turnLines = (names: ReadonlyMap<string, string>, { lease, run }: Turn, columns: number): string[] => {
  const { remaining_reply_budget: left, active_run_id, origin_message_id } = lease
  const times = [
    ...(run?.since_ms === undefined ? [] : [`since ${showTime(run.since_ms)}`]),
    ...(run === undefined || run.status === 'running' ? [`until ${showTime(lease.expires_at_ms)}`] : []),
  ]
  const how = run === undefined ? '' : `, ${visibleLine(run.status)}`
  const reasons = run?.reasons.filter((reason) => reason.code !== 'turn' && !asksPerson(reason)) ?? []
  return [
    ...[
      `${holderOf(names, lease)} has the floor${how}`,
      ...(times.length === 0 ? [] : [`  ${times.join(', ')}`]),
      `  answers ${idWord(origin_message_id)}`,
      `  in the thread of ${idWord(lease.thread_root_message_id)}`,
      `  in the run ${idWord(active_run_id)}`,
      `  next ${queueText(names, lease)}; ${count(left, 'message')} of agents may still follow`,
    ].map((line) => folded(line, columns)),
    ...reasons.flatMap((reason) => reasonText(reason, columns)),
  ]
}

const stimulusLines = ({ kind, content, available_at_ms, last_error }: Stimulus, now: number): string[] => {
  const until = available_at_ms > now ? ` until ${showTime(available_at_ms)}` : ''
  const why = last_error === undefined ? '' : `: ${visibleLine(last_error)}`
  return [`  ${visibleLine(kind)}${until}${why}`, `    ${beginning(content, mostContent)}`]
}

const waitingLines = ({ channel, stimuli, now }: Scene, columns: number): string[] => {
  const { channel_id, moderation_metrics } = channel
  const more = moderation_metrics.pending_stimulus_count - stimuli.length
  if (stimuli.length === 0) return []
  return [
    folded('To be said when the channel lets it:', columns),
    ...stimuli.flatMap((one) => stimulusLines(one, now)).map((line) => folded(line, columns)),
    ...(more > 0 ? [`  and ${more} more: ${commandLine('channels stimuli list', channel_id)}`] : []),
  ]
}

/** A reason and the first command that would move it, which stays whole, to be copied. */
const reasonText = (reason: Reason, columns: number): string[] => {
  const [text = '', ...commands] = reasonLines(reason, 1)
  return [folded(`  ${text}`, columns), ...commands.map((line) => `  ${line}`)]
}

export const sceneText = (scene: Scene, columns: number): string => {
  const { channel, turns, silence, more, names } = scene
  const heading = [
    idWord(channel.channel_id),
    visibleLine(channel.title),
    count(channel.member_count, 'member'),
    count(channel.message_count, 'message'),
  ]
  return [
    ...turns.flatMap((turn) => askingLines(scene, turn, columns)),
    folded(heading.join('  '), columns),
    ...(channel.paused
      ? [
          folded('It is paused: nobody is asked to speak.', columns),
          `  ${commandLine('channels update --resume', channel.channel_id)}`,
        ]
      : []),
    ...(turns.length === 0
      ? [folded('Nobody has the floor.', columns)]
      : turns.flatMap((turn) => turnLines(names, turn, columns))),
    ...silence.flatMap((reason) => reasonText(reason, columns)),
    ...(more > 0 ? [`${more} more have the floor: ${commandLine('channels leases', channel.channel_id)}`] : []),
    ...waitingLines(scene, columns),
  ].join('\n')
}
