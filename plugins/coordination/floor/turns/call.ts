/** Decides who answers a message of a person (floor-2 to floor-6). */
import type { Tx } from '../../../../core/plugin.js'
import type { ChannelRecord, MemberRecord, MessageRecord } from '../../channels/contract.js'
import { budgetOf, queueOf, startsOf, type Thread } from './arbitration.js'
import { isEligible, isOpen, priorityOf, rankedFor, saidBehind, type Wish } from './facts.js'
import type { CallRecord, LeaseRecord } from '../record/lease.js'
import type { DecisionParts, Plan } from './decide.js'

/** Those of an order who may be asked later. */
export const queueFor = (
  parts: DecisionParts,
  channel: ChannelRecord,
  { order, without }: { readonly order: readonly string[]; readonly without: ReadonlySet<string> },
): string[] => {
  const left = order.filter((id) => !without.has(id))
  const { length: most } = queueOf(channel.autonomy_policy, left)
  const queue: string[] = []
  for (const id of left) {
    if (queue.length === most) break
    if (isOpen(parts, id) && isEligible(parts, channel.channel_id, id)) queue.push(id)
  }
  return queue
}

/** The order in which members were ranked for a decision, once they were. */
export interface Ranks {
  order?: readonly string[]
}

/** Who may be asked in the order found before: what has changed since is looked at for each who is chosen. */
export const orderIn = (parts: DecisionParts, ranks: Ranks, wish: Wish): readonly string[] =>
  (ranks.order ??= rankedFor(parts, wish)).filter((id) => !wish.excluded.has(id))

/** A member that may be asked now. */
export const eligible = (parts: DecisionParts, channel_id: string, session_id: string): MemberRecord | undefined =>
  isEligible(parts, channel_id, session_id) ? parts.channels.memberOf(channel_id, session_id) : undefined

/** Nobody is asked; that is decided, too. */
const nobody = ({ store }: DecisionParts, { message_id }: CallRecord): Plan => ({
  candidates: [],
  starts: 0,
  turnOf: () => undefined,
  apply: (tx) => tx.remove(store.calls, message_id, 'nobody is asked'),
})

/** How a call stands now. */
interface Standing {
  readonly call: CallRecord
  readonly channel: ChannelRecord
  readonly human: MessageRecord
  readonly leases: readonly LeaseRecord[]
  readonly thread: Thread
  readonly priority: readonly string[]
}

const standingOf = (parts: DecisionParts, call: CallRecord): Standing | undefined => {
  const { channels, store } = parts
  const { message_id, channel_id, passed } = call
  const channel = channels.find(channel_id)
  const human = channels.message(message_id)
  if (channel === undefined || channel.paused || human === undefined) return undefined
  const leases = store.inThread(human.root_message_id)
  // A newer message has been decided on.
  if (leases.some(({ last_human_message_id }) => last_human_message_id > message_id)) return undefined
  const { autonomy_policy: policy } = channel
  const before = leases[0]?.last_human_priority_session_ids ?? []
  return {
    call,
    channel,
    human,
    leases,
    thread: { policy, said: saidBehind(parts, policy, human), holders: leases.length },
    priority: passed?.priority ?? priorityOf(parts, human, before),
  }
}

/** What to do about the call of a message; undefined if it was done. Members are ranked once for a decision. */
export const planCall = (parts: DecisionParts, message_id: string, ranks: Ranks): Plan | undefined => {
  const call = parts.store.calls.find(message_id)
  if (call === undefined) return undefined
  const standing = standingOf(parts, call)
  if (standing === undefined) return nobody(parts, call)
  const { channel, human, leases, thread, priority } = standing
  const holders = leases.map(({ holder_session_id }) => holder_session_id)
  const excluded = new Set([...holders, ...(call.passed?.asked ?? [])])
  const order = orderIn(parts, ranks, { channel, human, priority, excluded, now: parts.clock.now() })
  const turnOf: Plan['turnOf'] = (session_id) => {
    const member = eligible(parts, channel.channel_id, session_id)
    return member && { channel, human, origin: human, member, session_id, turn_id: '' }
  }
  return {
    candidates: order,
    starts: startsOf(thread),
    turnOf,
    apply(tx, { chosen, passed, begin }) {
      tx.remove(parts.store.calls, message_id, 'it is decided who is asked')
      const without = new Set([...chosen, ...passed])
      const queue = queueFor(parts, channel, { order, without })
      refresh(parts, tx, { ...standing, queue })
      for (const session_id of chosen) {
        const turn = turnOf(session_id)
        if (turn === undefined) continue
        const turn_id = parts.ids.make('turn')
        const { run_id } = begin(tx, { ...turn, turn_id })
        tx.insert(parts.store.leases, leaseOf(tx, standing, { turn_id, session_id, run_id, queue }))
      }
      if (chosen.length > 0) parts.granted(tx, message_id, chosen)
    },
  }
}

/** Those who hold the floor already go on, and then answer this message. */
const refresh = (parts: DecisionParts, tx: Tx, standing: Standing & { readonly queue: string[] }): void => {
  const { call, channel, human, leases, priority, queue } = standing
  for (const lease of leases)
    tx.put(parts.store.leases, {
      ...lease,
      last_human_message_id: human.message_id,
      last_human_priority_session_ids: [...priority],
      queued_candidate_session_ids: queue,
      expires_at_ms: tx.now + channel.autonomy_policy.lease_timeout_ms,
      asked_session_ids: call.passed === undefined ? [] : lease.asked_session_ids,
    })
}

interface Granted {
  readonly turn_id: string
  readonly session_id: string
  readonly run_id: string
  readonly queue: string[]
}

const leaseOf = (
  { now }: Tx,
  { call, channel, human, thread, priority }: Standing,
  { turn_id, session_id, run_id, queue }: Granted,
): LeaseRecord => ({
  turn_id,
  channel_id: channel.channel_id,
  thread_root_message_id: human.root_message_id,
  origin_message_id: human.message_id,
  holder_session_id: session_id,
  active_run_id: run_id,
  remaining_reply_budget: budgetOf(thread),
  expires_at_ms: now + channel.autonomy_policy.lease_timeout_ms,
  queued_candidate_session_ids: queue,
  last_human_message_id: human.message_id,
  agent_reply_count_since_last_human: thread.said,
  current_human_origin_message_id: human.message_id,
  last_human_priority_session_ids: [...priority],
  asked_session_ids: [...(call.passed?.asked ?? [])],
})
