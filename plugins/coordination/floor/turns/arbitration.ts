/** Who is asked to speak, in which order, and how many: floor-2 to floor-5. Pure. */
import type { AutonomyPolicy, MemberRecord } from '../../channels/contract.js'

/** A session member as a thread knows it. Times in Unix ms. */
export interface Candidate {
  readonly session_id: string
  readonly mode: MemberRecord['participation_mode']
  readonly muted: boolean
  /** When it said something in the thread last. */
  readonly spoke_at_ms?: number | undefined
  /** It has said something behind the message of the person. */
  readonly commented: boolean
  /** It has reacted to that message or to one behind it. */
  readonly reacted: boolean
  /** Runs of it that have not ended. Asked only where nothing else decides. */
  open_runs(): number
}

/** What the ranking depends on beside the members. */
export interface Ranking {
  readonly now: number
  /** Sessions that come first, in order. */
  readonly priority: readonly string[]
  readonly cooldown_ms: number
  /** Sessions that are not asked. */
  readonly excluded: ReadonlySet<string>
}

/** Who may come first, by what speaks for it: the first that names anybody counts. */
export interface Claims {
  /** Sessions of the members that the message addresses, in its order. */
  readonly addressed: readonly string[]
  /** Who wrote the message that it replies to. */
  readonly replied_to: string | undefined
  /** Who spoke last before it in its thread. */
  readonly in_thread: string | undefined
  /** Who spoke last before it in the channel, where it opens a thread. */
  readonly in_channel: string | undefined
  /** Who came first before. */
  readonly before: readonly string[]
}

const only = (session_id: string | undefined): readonly string[] => (session_id === undefined ? [] : [session_id])

export const priorities = ({ addressed, replied_to, in_thread, in_channel, before }: Claims): readonly string[] =>
  [addressed, only(replied_to), only(in_thread), only(in_channel)].find((some) => some.length > 0) ?? before

export const mayBeAsked = ({ mode, muted }: Pick<Candidate, 'mode' | 'muted'>): boolean =>
  !muted && mode !== 'manual_only'

/** A candidate with what decides; what is equal in all parts is ordered by open runs, then by id. */
interface Row {
  readonly candidate: Candidate
  readonly parts: readonly number[]
  runs: number | undefined
}

const bias = (mode: Candidate['mode'], first: boolean): number =>
  mode === 'selected_only' || (mode === 'prefer_selected' && first) ? 0 : 1

const rowOf = (candidate: Candidate, place: number | undefined): Row => ({
  candidate,
  parts: [
    place ?? Infinity,
    Number(candidate.commented),
    Number(candidate.reacted),
    bias(candidate.mode, place !== undefined),
    // Who spoke last comes first; who never spoke comes last, here alone.
    candidate.spoke_at_ms === undefined ? Infinity : -candidate.spoke_at_ms,
  ],
  runs: undefined,
})

const runsOf = (row: Row): number => (row.runs ??= row.candidate.open_runs())

/** Among very many: without an iterator for each pair. */
const compare = (one: Row, other: Row): number => {
  for (let at = 0; at < one.parts.length; at += 1) {
    const part = one.parts[at] ?? 0
    const against = other.parts[at] ?? 0
    if (part !== against) return part < against ? -1 : 1
  }
  const a = one.candidate.session_id
  const b = other.candidate.session_id
  return runsOf(one) - runsOf(other) || (a < b ? -1 : a > b ? 1 : 0)
}

/** Those who may be asked, the first one first. */
export const ranked = (
  candidates: Iterable<Candidate>,
  { now, priority, cooldown_ms, excluded }: Ranking,
): string[] => {
  const places = new Map(priority.toReversed().map((id, at) => [id, priority.length - 1 - at]))
  const rows: Row[] = []
  const seen = new Set(excluded)
  for (const candidate of candidates) {
    const { session_id, spoke_at_ms } = candidate
    const place = places.get(session_id)
    const cools = spoke_at_ms !== undefined && now - spoke_at_ms < cooldown_ms && place === undefined
    if (!mayBeAsked(candidate) || cools || seen.has(session_id)) continue
    seen.add(session_id)
    rows.push(rowOf(candidate, place))
  }
  return rows.sort(compare).map(({ candidate }) => candidate.session_id)
}

/** More messages of agents than these are not allowed behind one of a person, whatever a policy says. */
const mostReplies = 1_000
export const repliesOf = ({ max_agent_replies_per_human_message }: AutonomyPolicy): number =>
  Math.min(max_agent_replies_per_human_message, mostReplies)

/** How it stands with a thread behind the newest message of a person. */
export interface Thread {
  readonly policy: AutonomyPolicy
  /** Messages of agents behind that message. */
  readonly said: number
  /** Other sessions that hold the floor: each may say one more. */
  readonly holders: number
}

/** Messages of agents that may still follow, beside those of the sessions that hold the floor. */
export const budgetOf = ({ policy, said, holders }: Thread): number => Math.max(0, repliesOf(policy) - said - holders)

/** Sessions that may be given the floor now. */
export const startsOf = (thread: Thread): number =>
  Math.max(0, Math.min(budgetOf(thread), thread.policy.max_parallel_public_speakers - thread.holders))

/** Ids on one lease, whatever the policy says. */
const mostQueued = 256
/** Those who are asked next, as many as the budget can use. */
export const queueOf = (policy: AutonomyPolicy, session_ids: readonly string[]): string[] =>
  session_ids.slice(0, Math.min(mostQueued, repliesOf(policy) * 4))
/** Sessions that are asked behind one message before the floor is left, where all of them are silent. */
export const mostAsked = 256
