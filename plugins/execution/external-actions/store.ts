import { hash } from 'node:crypto'
import {
  type Collection,
  type CollectionSpec,
  type State,
  type Stream,
  type StreamSpec,
  digest,
} from '../../../core/plugin.js'
import type { ActionGrounds, ActionKind, ActionOutcome } from './contract.js'

/** What every entry holds: `prev` is the hash of the entry before it, empty in the first; `hash` covers all else. */
type Link = { at: number; action_id: string; attempt: number; prev: string; hash: string }
export type IntentEntry = Link & {
  type: 'intent'
  kind: ActionKind
  target: string
  request_digest: string
  approved_by: ActionGrounds
  agent_id?: string
  run_id?: string
  tool_call_id?: string
}
export type OutcomeEntry = Link & {
  type: 'outcome'
  outcome: ActionOutcome['outcome']
  response_digest?: string
  code?: string
}
/** Somebody has looked what came of an action whose outcome is unknown. */
export type AcknowledgementEntry = Link & { type: 'acknowledgement'; by: string; note?: string }
/** An entry of the ledger of a session. */
export type ActionEntry = IntentEntry | OutcomeEntry | AcknowledgementEntry

/** The end of a session's ledger, put in the commit of each entry: what is cut off is missed. */
export type ActionHead = { readonly session_id: string; readonly entries: number; readonly hash: string }
/**
 * Where a run's actions stand in the ledger of its session, which of its tool calls have no outcome, and which of its
 * actions have an unknown one that nobody has acknowledged.
 */
export type ActionRange = {
  readonly run_id: string
  readonly session_id: string
  readonly first: number
  readonly last: number
  readonly open: readonly string[]
  readonly unknown: readonly string[]
}

/** The hash that an entry of this session must have. */
export const hashOf = (session_id: string, entry: Omit<ActionEntry, 'hash'>): string => digest({ session_id, ...entry })

/** Everything that an entry may hold. */
type Hashed = Pick<Link, 'at' | 'action_id' | 'attempt' | 'prev'> &
  Partial<Omit<IntentEntry, keyof Link | 'type'> & Omit<OutcomeEntry, keyof Link | 'type'>> &
  Partial<Omit<AcknowledgementEntry, keyof Link | 'type'>> & { type: ActionEntry['type'] }

/** The same of an entry that is written now. Its members stand in the order of the digest, so nothing is sorted. */
export const newHash = (session_id: string, entry: Hashed): string => {
  const { action_id, agent_id, approved_by, at, attempt, by, code, kind, note, outcome, prev } = entry
  const { request_digest, response_digest, run_id, target, tool_call_id, type } = entry
  const grounds = approved_by && { id: approved_by.id, type: approved_by.type }
  const first = { action_id, agent_id, approved_by: grounds, at, attempt, by, code, kind, note, outcome, prev }
  const last = { request_digest, response_digest, run_id, session_id, target, tool_call_id, type }
  return hash('sha256', JSON.stringify(Object.assign(first, last)))
}

const entries: StreamSpec<ActionEntry> = {
  name: 'external_actions',
  version: 1,
  kept: { kind: 'runs' },
  chained: {
    heads: 'external_action_heads',
    link: ({ hash, ...entry }, owner) => ({ prev: entry.prev, hash, right: hashOf(owner, entry) }),
  },
}
const heads: CollectionSpec<ActionHead> = {
  name: 'external_action_heads',
  version: 1,
  id: (head) => head.session_id,
  indexes: {},
  settled: () => true,
  references: (head) => [{ collection: 'sessions', id: head.session_id }],
}
const ranges: CollectionSpec<ActionRange> = {
  name: 'external_action_runs',
  version: 2,
  id: (range) => range.run_id,
  indexes: { unknown: { group: ({ unknown }) => (unknown.length > 0 ? 'unknown' : undefined) } },
  settled: ({ unknown }) => unknown.length === 0,
  kept: { kind: 'runs' },
  references: (range) => [{ collection: 'runs', id: range.run_id }],
}

export interface LedgerStore {
  readonly entries: Stream<ActionEntry>
  readonly heads: Collection<ActionHead>
  readonly ranges: Collection<ActionRange>
}
export const declareStore = (state: State): LedgerStore => ({
  entries: state.stream(entries),
  heads: state.collection(heads),
  ranges: state.collection(ranges),
})
