/** Writes the ledger: one entry for each attempt and one for what came of it, linked by their hashes. */
import type { Tx } from '../../../core/plugin.js'
import type {
  ActionAcknowledgement,
  ActionIntent,
  ActionListener,
  ActionOutcome,
  EnteredAction,
  ExternalActions,
} from './contract.js'
import { hashOf, type ActionEntry, type IntentEntry, type LedgerStore } from './store.js'
import { actionsOf } from './view.js'

export interface LedgerParts {
  readonly store: LedgerStore
  readonly listeners: () => readonly ActionListener[]
}

type Unlinked = ActionEntry extends infer E ? (E extends ActionEntry ? Omit<E, 'prev' | 'hash' | 'at'> : never) : never

/** Entries that are read at once on the way back to an intent. */
const step = 64

/** The latest intent of an action. An outcome follows its intent closely, so it is looked for from the end. */
const intentOf = ({ entries }: LedgerStore, session_id: string, action_id: string): IntentEntry | undefined => {
  for (let end = entries.length(session_id); end > 0; end -= step) {
    const after = Math.max(0, end - step)
    const found = entries
      .read(session_id, { after, limit: end - after })
      .toReversed()
      .find(({ entry }) => entry.type === 'intent' && entry.action_id === action_id)
    if (found?.entry.type === 'intent') return found.entry
  }
  return undefined
}

const append = (
  { entries, heads }: LedgerStore,
  tx: Tx,
  { session_id, since = 0, ...unlinked }: Unlinked & { session_id: string; since?: number | undefined },
): number => {
  const linked = { ...unlinked, at: Math.max(tx.now, since), prev: heads.find(session_id)?.hash ?? '' }
  const hash = hashOf(session_id, linked)
  const seq = tx.append(entries, session_id, { ...linked, hash })
  tx.put(heads, { session_id, entries: seq, hash })
  return seq
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
  { ranges }: LedgerStore,
  tx: Tx,
  { session_id, seq, entry: { run_id, kind, action_id }, outcome }: Written,
): void => {
  if (run_id === undefined) return
  const range = ranges.find(run_id) ?? { run_id, session_id, first: seq, last: seq, open: [], unknown: [] }
  const stands = (ids: readonly string[], within: boolean): string[] => [
    ...ids.filter((id) => id !== action_id),
    ...(within ? [action_id] : []),
  ]
  tx.put(ranges, {
    ...range,
    last: seq,
    open: stands(range.open, outcome === undefined && kind === 'tool'),
    unknown: stands(range.unknown, outcome === 'unknown'),
  })
}

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
  for (const listener of listeners()) listener.entered(tx, action)
}

export const createLedger = (parts: LedgerParts): ExternalActions => {
  const { store } = parts
  const intend = (tx: Tx, intent: ActionIntent): void => {
    const { session_id, request_digest } = intent
    const seq = append(store, tx, { type: 'intent', ...intent })
    extend(store, tx, { session_id, entry: intent, seq, outcome: undefined })
    tell(parts, tx, { session_id, intent, seen: { phase: 'intent', request_digest } })
  }
  const conclude = (tx: Tx, { session_id, ...concluded }: ActionOutcome): void => {
    const intent = intentOf(store, session_id, concluded.action_id)
    const seq = append(store, tx, { type: 'outcome', session_id, since: intent?.at, ...concluded })
    if (intent === undefined) return
    const { outcome, response_digest } = concluded
    extend(store, tx, { session_id, entry: intent, seq, outcome })
    const seen = { phase: 'outcome' as const, outcome, ...(response_digest !== undefined && { response_digest }) }
    tell(parts, tx, { session_id, intent, seen })
  }
  const abandon = (tx: Tx, run_id: string, code: string): void => {
    const range = store.ranges.find(run_id)
    if (range === undefined) return
    const { session_id } = range
    for (const action_id of range.open)
      conclude(tx, {
        action_id,
        session_id,
        attempt: intentOf(store, session_id, action_id)?.attempt ?? 1,
        outcome: 'unknown',
        code,
      })
  }
  const acknowledge = (tx: Tx, { run_id, by, note }: ActionAcknowledgement): void => {
    const range = store.ranges.find(run_id)
    if (range === undefined) return
    const { session_id, unknown } = range
    for (const action_id of unknown) {
      const attempt = intentOf(store, session_id, action_id)?.attempt ?? 1
      const entry = { type: 'acknowledgement' as const, action_id, attempt, by, ...(note !== undefined && { note }) }
      tx.put(store.ranges, { ...range, unknown: [], last: append(store, tx, { session_id, ...entry }) })
    }
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
