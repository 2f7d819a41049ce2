/** Writes the ledger: one entry for each attempt and one for what came of it, linked by their hashes. */
import { createCache, type Observers, type Tx } from '../../../core/plugin.js'
import type {
  ActionAcknowledgement,
  ActionIntent,
  ActionListener,
  ActionOutcome,
  EnteredAction,
  ExternalActions,
} from './contract.js'
import {
  newHash,
  type ActionEntry,
  type ActionHead,
  type ActionRange,
  type IntentEntry,
  type LedgerStore,
} from './store.js'
import { actionsOf } from './view.js'

export interface LedgerParts {
  readonly store: LedgerStore
  readonly listeners: Pick<Observers<ActionListener>, 'tell'>
}

type Unlinked = ActionEntry extends infer E ? (E extends ActionEntry ? Omit<E, 'prev' | 'hash' | 'at'> : never) : never

/** Entries that are read at once on the way back to an intent. */
const step = 64

/** The latest intent of an action. An outcome follows its intent closely, so it is looked for from the end. */
const intentOf = ({ entries }: LedgerStore, session_id: string, action_id: string): IntentEntry | undefined => {
  const fell = entries.first(session_id) - 1
  for (let end = entries.length(session_id); end > fell; end -= step) {
    const after = Math.max(fell, end - step)
    const found = entries
      .read(session_id, { after, limit: end - after })
      .toReversed()
      .find(({ entry }) => entry.type === 'intent' && entry.action_id === action_id)
    if (found?.entry.type === 'intent') return found.entry
  }
  return undefined
}

/** Where the ledgers of sessions and the actions of runs stand while a commit enters something: each is put once. */
interface Standing {
  readonly store: LedgerStore
  readonly tx: Tx
  readonly heads: Map<string, ActionHead>
  readonly ranges: Map<string, ActionRange>
  /** Runs that have unknown actions now and had none before, or the other way round. */
  readonly turned: Set<string>
}

const headOf = ({ heads, store }: Standing, session_id: string): ActionHead | undefined =>
  heads.get(session_id) ?? store.heads.find(session_id)
const rangeOf = ({ ranges, store }: Standing, run_id: string): ActionRange | undefined =>
  ranges.get(run_id) ?? store.ranges.find(run_id)

const setRange = (standing: Standing, before: ActionRange, after: ActionRange): void => {
  standing.ranges.set(after.run_id, after)
  if (isUnknown(before) !== isUnknown(after)) standing.turned.add(after.run_id)
}

const put = ({ listeners }: LedgerParts, { store, tx, heads, ranges, turned }: Standing): void => {
  for (const head of heads.values()) tx.put(store.heads, head)
  for (const range of ranges.values()) tx.put(store.ranges, range)
  for (const run_id of turned) tellUnknown(listeners, tx, { run_id, isSo: isUnknown(ranges.get(run_id)) })
}

const tellUnknown = (
  listeners: LedgerParts['listeners'],
  tx: Tx,
  { run_id, isSo }: { readonly run_id: string; readonly isSo: boolean },
): void => listeners.tell(tx, 'hearing of unknown outcomes', (listener) => listener.unknown?.(tx, run_id, isSo))

const isUnknown = (range: ActionRange | undefined): boolean => range !== undefined && range.unknown.length > 0

const append = (
  standing: Standing,
  { session_id, since = 0, ...unlinked }: Unlinked & { session_id: string; since?: number | undefined },
): { readonly seq: number; readonly entry: ActionEntry } => {
  const { store, tx, heads } = standing
  const linked = { at: Math.max(tx.now, since), prev: headOf(standing, session_id)?.hash ?? '', ...unlinked }
  const hash = newHash(session_id, linked)
  const entry = { hash, ...linked }
  const seq = tx.append(store.entries, session_id, entry)
  heads.set(session_id, { session_id, entries: seq, hash })
  return { seq, entry }
}

interface Written {
  readonly session_id: string
  readonly seq: number
  readonly entry: Pick<IntentEntry, 'run_id' | 'kind' | 'action_id'>
  readonly outcome: ActionOutcome['outcome'] | undefined
}

/**
 * Keeps where the run's actions stand, and those of its tool calls that have no outcome. A delivery outlives its run:
 * its own plugin knows what becomes of it.
 */
const extend = (
  standing: Standing,
  { session_id, seq, entry: { run_id, kind, action_id }, outcome }: Written,
): void => {
  if (run_id === undefined) return
  const range = rangeOf(standing, run_id) ?? { run_id, session_id, first: seq, last: seq, open: [], unknown: [] }
  const stands = (ids: readonly string[], within: boolean): readonly string[] =>
    within ? [...ids.filter((id) => id !== action_id), action_id] : without(ids, action_id)
  setRange(standing, range, {
    run_id,
    session_id,
    first: range.first,
    last: seq,
    open: stands(range.open, outcome === undefined && kind === 'tool'),
    unknown: stands(range.unknown, outcome === 'unknown'),
  })
}

const without = (ids: readonly string[], id: string): readonly string[] =>
  ids.includes(id) ? ids.filter((one) => one !== id) : ids

type Seen = Pick<EnteredAction, 'phase' | 'request_digest' | 'response_digest' | 'outcome'>

interface Told {
  readonly session_id: string
  readonly intent: Pick<IntentEntry, 'run_id' | 'tool_call_id' | 'kind' | 'target'>
  readonly seen: Seen
}

const tell = ({ listeners }: LedgerParts, tx: Tx, { session_id, intent, seen }: Told): void => {
  const { run_id, tool_call_id, kind, target } = intent
  if (run_id === undefined) return
  const action = { session_id, run_id, kind, target, ...(tool_call_id !== undefined && { tool_call_id }), ...seen }
  listeners.tell(tx, 'hearing of an external action', (listener) => listener.entered(tx, action))
}

/** Intents that are looked up at once when their outcome comes: of many actions at a time, all of them. */
const mostRecent = 1024
const keyOf = (session_id: string, action_id: string): string => `${session_id} ${action_id}`

export const createLedger = (parts: LedgerParts): ExternalActions => {
  const { store } = parts
  const recent = createCache<IntentEntry>(mostRecent)
  const stand = (tx: Tx): Standing => ({ store, tx, heads: new Map(), ranges: new Map(), turned: new Set() })
  const enterIntent = (standing: Standing, intent: ActionIntent): void => {
    const { session_id, request_digest, action_id } = intent
    const { seq, entry } = append(standing, { type: 'intent', ...intent })
    if (entry.type === 'intent') recent.set(keyOf(session_id, action_id), entry)
    extend(standing, { session_id, entry: intent, seq, outcome: undefined })
    tell(parts, standing.tx, { session_id, intent, seen: { phase: 'intent', request_digest } })
  }
  const enterOutcome = (standing: Standing, { session_id, ...concluded }: ActionOutcome): void => {
    const { action_id, outcome, response_digest } = concluded
    const key = keyOf(session_id, action_id)
    const intent = recent.get(key) ?? intentOf(store, session_id, action_id)
    recent.delete(key)
    const { seq } = append(standing, { type: 'outcome', session_id, since: intent?.at, ...concluded })
    if (intent === undefined) return
    extend(standing, { session_id, entry: intent, seq, outcome })
    const seen = { phase: 'outcome' as const, outcome, ...(response_digest !== undefined && { response_digest }) }
    tell(parts, standing.tx, { session_id, intent, seen })
  }
  const intend = (tx: Tx, ...intents: readonly ActionIntent[]): void => {
    const standing = stand(tx)
    for (const intent of intents) enterIntent(standing, intent)
    put(parts, standing)
  }
  const conclude = (tx: Tx, ...outcomes: readonly ActionOutcome[]): void => {
    const standing = stand(tx)
    for (const outcome of outcomes) enterOutcome(standing, outcome)
    put(parts, standing)
  }
  const attemptOf = (session_id: string, action_id: string): number =>
    intentOf(store, session_id, action_id)?.attempt ?? 1
  const abandon = (tx: Tx, run_id: string, code: string): void => {
    const range = store.ranges.find(run_id)
    if (range === undefined) return
    const { session_id, open } = range
    const lost = (action_id: string): ActionOutcome => {
      const attempt = attemptOf(session_id, action_id)
      return { action_id, session_id, attempt, outcome: 'unknown', code }
    }
    if (open.length > 0) conclude(tx, ...open.map(lost))
    if (isUnknown(range)) tellUnknown(parts.listeners, tx, { run_id, isSo: true })
  }
  const acknowledge = (tx: Tx, { run_id, by, note }: ActionAcknowledgement): void => {
    const standing = stand(tx)
    const range = rangeOf(standing, run_id)
    if (range === undefined) return
    const { session_id } = range
    for (const action_id of range.unknown) {
      const attempt = attemptOf(session_id, action_id)
      const entry = { type: 'acknowledgement' as const, action_id, attempt, by, ...(note !== undefined && { note }) }
      const { seq } = append(standing, { session_id, ...entry })
      setRange(standing, range, { ...range, unknown: [], last: seq })
    }
    put(parts, standing)
  }
  return {
    intend,
    conclude,
    abandon,
    acknowledge,
    of: (run_id) => actionsOf(store, run_id),
    unknown: () => store.ranges.ids('unknown', 'unknown'),
  }
}
