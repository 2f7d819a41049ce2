/** What the end of a turn leads to: its message, and the next turn (floor-8 to floor-12). */
import { Problem, tellFailure, type Tx } from '../../../../core/plugin.js'
import type { RunRecord } from '../../../execution/runs/contract.js'
import type { ChannelRecord, MemberRecord, MessageOutput, MessageRecord } from '../../channels/contract.js'
import { budgetOf, mostAsked, startsOf, type Thread } from './arbitration.js'
import { isEligible, saidBehind } from './facts.js'
import { isSwitched, type LeaseRecord } from '../record/lease.js'
import { answerOf, postOf } from './answer.js'
import { eligible, orderIn, queueFor, type Ranks } from './call.js'
import { decide, type Begin, type DecisionParts, type Plan } from './decide.js'

/** True of a run that has ended, or is not there. */
export const isOver = (run: RunRecord | undefined): boolean => run === undefined || 'finished_at_ms' in run

/** What is known of a turn that ends, or that took too long. */
interface Ending {
  readonly lease: LeaseRecord
  readonly late: boolean
  readonly channel: ChannelRecord
  readonly member: MemberRecord | undefined
  /** The newest message of a person in the thread. */
  readonly human: MessageRecord
  /** A person has said something meanwhile. */
  readonly switched: boolean
  readonly others: readonly LeaseRecord[]
  readonly answer: MessageOutput | undefined
  readonly thread: Thread
  /** Those who had their turn since somebody spoke last. */
  readonly asked: readonly string[]
}

const endingOf = (parts: DecisionParts, lease: LeaseRecord, how: How): Ending | undefined => {
  const { channels, runs, store } = parts
  const { channel_id, thread_root_message_id, holder_session_id, turn_id, last_human_message_id } = lease
  const channel = channels.find(channel_id)
  const human = channels.message(last_human_message_id)
  if (channel === undefined || human === undefined) return undefined
  const run = runs.find(lease.active_run_id)
  const member = channels.memberOf(channel_id, holder_session_id)
  const answer = run === undefined || member === undefined || how.silent ? undefined : answerOf(runs, run)
  const others = store.inThread(thread_root_message_id).filter((one) => one.turn_id !== turn_id)
  const switched = isSwitched(lease)
  const { autonomy_policy: policy } = channel
  const said = saidBehind(parts, policy, human) + (answer === undefined ? 0 : 1)
  return {
    lease,
    late: how.late,
    channel,
    member,
    human,
    switched,
    others,
    answer,
    thread: { policy, said, holders: others.length },
    asked: switched ? [] : [...(answer === undefined ? lease.asked_session_ids : []), holder_session_id],
  }
}

/** Who is asked next, in order: those of the queue, and where it is empty all others who may have something to say. */
const orderOf = (parts: DecisionParts, ending: Ending, ranks: Ranks): readonly string[] => {
  const { lease, channel, human, switched, others, asked } = ending
  const { holder_session_id, last_human_priority_session_ids: priority } = lease
  const excluded = new Set(others.map((one) => one.holder_session_id))
  if (!switched || priority[0] !== holder_session_id) excluded.add(holder_session_id)
  for (const id of asked) excluded.add(id)
  if (!switched) {
    const queue = lease.queued_candidate_session_ids.filter(
      (id) => !excluded.has(id) && isEligible(parts, channel.channel_id, id),
    )
    if (queue.length > 0) return queue
  }
  if (asked.length >= mostAsked) return []
  return orderIn(parts, ranks, { channel, human, priority, excluded, now: parts.clock.now() })
}

/** How a turn is looked at. */
interface How {
  /** Its run goes on, and took too long. */
  readonly late: boolean
  /** What it says cannot be posted. */
  readonly silent: boolean
}

const planEnd = (
  parts: DecisionParts,
  turn_id: string,
  how: How & { readonly ranks: Ranks; posting(begins: boolean): void },
): Plan | undefined => {
  const { store, channels } = parts
  const lease = store.leases.find(turn_id)
  if (lease === undefined || (!how.late && !isOver(parts.runs.find(lease.active_run_id)))) return undefined
  const ending = endingOf(parts, lease, how)
  if (ending === undefined) return gone(parts, lease)
  const { channel, human, switched, thread } = ending
  const starts = channel.paused ? 0 : Math.min(1, startsOf(thread))
  const order = starts === 0 ? [] : orderOf(parts, ending, how.ranks)
  const earlier = channels.message(lease.origin_message_id) ?? human
  const turnOf = (session_id: string, post?: MessageRecord) => {
    const member = eligible(parts, channel.channel_id, session_id)
    const origin = switched ? human : (post ?? earlier)
    const { active_run_id: run_id } = lease
    return (
      member && {
        channel,
        human,
        origin,
        member,
        session_id,
        turn_id: '',
        instead: ending.late ? { run_id, turn_id } : undefined,
      }
    )
  }
  return {
    candidates: order,
    starts,
    turnOf,
    apply(tx, { chosen: [next], passed, begin }) {
      if (ending.late && next === undefined) return extend(parts, tx, { lease, channel })
      const post = say(parts, tx, { ...ending, posting: how.posting })
      store.drop(tx, lease, 'the turn is over')
      if (ending.late) tx.after(() => parts.abandon(lease.active_run_id))
      const turn = next === undefined ? undefined : turnOf(next, post)
      const queue = queueFor(parts, channel, {
        order,
        without: new Set([...passed, ...(next === undefined ? [] : [next])]),
      })
      share(parts, tx, { ...ending, next })
      if (turn !== undefined) succeed(parts, tx, { ...ending, turn, queue, begin })
    },
  }
}

/** The channel is not there any more. */
const gone = ({ store, abandon }: DecisionParts, lease: LeaseRecord): Plan => ({
  candidates: [],
  starts: 0,
  turnOf: () => undefined,
  apply(tx) {
    store.drop(tx, lease, 'its channel is gone')
    tx.after(() => abandon(lease.active_run_id))
  },
})

const say = (
  { channels }: DecisionParts,
  tx: Tx,
  { lease, member, answer, posting }: Ending & { posting(begins: boolean): void },
): MessageRecord | undefined => {
  if (member === undefined || answer === undefined) return undefined
  posting(true)
  const post = channels.post(tx, postOf(lease, member, answer))
  posting(false)
  return post
}

/** Other speakers of the thread know what this turn has come to, and do not ask the same next one. */
const share = ({ store }: DecisionParts, tx: Tx, ending: Ending & { readonly next: string | undefined }): void => {
  const { others, answer, switched, lease, next } = ending
  for (const other of others) {
    const heard = answer === undefined ? other.asked_session_ids : []
    tx.put(store.leases, {
      ...other,
      queued_candidate_session_ids: other.queued_candidate_session_ids.filter((id) => id !== next),
      asked_session_ids: switched ? heard : [...new Set([...heard, lease.holder_session_id])],
    })
  }
}

interface Successor extends Ending {
  readonly turn: NonNullable<ReturnType<Plan['turnOf']>>
  readonly queue: string[]
  readonly begin: Begin
}

const succeed = (
  { store, ids }: DecisionParts,
  tx: Tx,
  { lease, late, channel, human, thread, asked, turn, queue, begin }: Successor,
): void => {
  const turn_id = ids.make('turn')
  const { run_id } = begin(tx, { ...turn, turn_id })
  const { superseded_run_id: _run, superseded_turn_id: _turn, ...rest } = lease
  tx.insert(store.leases, {
    ...rest,
    turn_id,
    origin_message_id: turn.origin.message_id,
    holder_session_id: turn.session_id,
    active_run_id: run_id,
    remaining_reply_budget: budgetOf(thread),
    expires_at_ms: tx.now + channel.autonomy_policy.lease_timeout_ms,
    queued_candidate_session_ids: queue,
    agent_reply_count_since_last_human: thread.said,
    current_human_origin_message_id: human.message_id,
    asked_session_ids: [...asked],
    ...(late && { superseded_run_id: lease.active_run_id, superseded_turn_id: lease.turn_id }),
  })
}

/** Least milliseconds between two looks at a turn that goes on. */
const leastMs = 1_000

const extend = ({ store }: DecisionParts, tx: Tx, { lease, channel }: Pick<Ending, 'lease' | 'channel'>): void => {
  const expires_at_ms = tx.now + Math.max(leastMs, channel.autonomy_policy.lease_timeout_ms)
  tx.put(store.leases, { ...lease, expires_at_ms })
}

const end = async (parts: DecisionParts, turn_id: string, late: boolean): Promise<void> => {
  let silent = false
  let isPosting = false
  const posting = (begins: boolean): void => {
    isPosting = begins
  }
  const ranks: Ranks = {}
  const look = (): Plan | undefined => planEnd(parts, turn_id, { late, silent, ranks, posting })
  try {
    return await decide(parts, look)
  } catch (error) {
    if (!isPosting || !(error instanceof Problem) || parts.state.health.mode !== 'ok') throw error
    tellFailure(parts, 'an answer could not be posted', { turn_id, error })
    silent = true
  }
  await decide(parts, look)
}

/** Settles the turn if its run has ended; no effect if that was done. */
export const settle = (parts: DecisionParts, turn_id: string): Promise<void> => end(parts, turn_id, false)

/** When the clock of a turn began: it does not run while its run is queued or waits for people. */
const beganAt = (run: RunRecord, now: number): number =>
  run.status === 'running' ? Math.max(run.started_at_ms, run.updated_at_ms) : now

/** A turn whose time may be over: it is settled, handed to the next one, or goes on. */
export const expire = async (parts: DecisionParts, turn_id: string): Promise<void> => {
  const { store, runs, channels, state } = parts
  const now = parts.clock.now()
  const lease = store.leases.find(turn_id)
  if (lease === undefined || lease.expires_at_ms > now) return
  const run = runs.find(lease.active_run_id)
  const channel = channels.find(lease.channel_id)
  if (run === undefined || isOver(run) || channel === undefined) return end(parts, turn_id, channel === undefined)
  const expires_at_ms = beganAt(run, now) + channel.autonomy_policy.lease_timeout_ms
  if (expires_at_ms <= now) return end(parts, turn_id, true)
  await state.commit((tx) => {
    if (run.status === 'running') tx.put(store.leases, { ...lease, expires_at_ms })
    else extend(parts, tx, { lease, channel })
  })
}
