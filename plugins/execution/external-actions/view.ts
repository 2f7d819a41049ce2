/** The actions of a run, folded from the entries of its session's ledger. */
import type { StreamEntry } from '../../../core/plugin.js'
import type { ExternalActionView } from './contract.js'
import type { ActionEntry, LedgerStore } from './store.js'

/** Oldest first, one row for each action: its first time, its latest attempt, and what came of that. */
export const actionsOf = ({ ranges, entries }: LedgerStore, run_id: string): ExternalActionView[] => {
  const range = ranges.find(run_id)
  if (range === undefined) return []
  const { session_id, first, last } = range
  const rows = new Map<string, ExternalActionView>()
  for (const found of entries.read(session_id, { after: first - 1, limit: last - first + 1 })) {
    const row = rowAfter(rows.get(found.entry.action_id), found, { session_id, run_id })
    if (row !== undefined) rows.set(row.action_id, row)
  }
  return [...rows.values()]
}

const rowAfter = (
  row: ExternalActionView | undefined,
  { seq, entry }: StreamEntry<ActionEntry>,
  { session_id, run_id }: { session_id: string; run_id: string },
): ExternalActionView | undefined => {
  const { hash, at } = entry
  if (entry.type === 'intent') {
    if (entry.run_id !== run_id) return undefined
    const { type: _, at: __, prev: ___, attempt, ...intent } = entry
    return {
      ...intent,
      session_id,
      timestamp_ms: row?.timestamp_ms ?? at,
      outcome: 'pending',
      attempts: attempt,
      sequence: seq,
    }
  }
  if (row === undefined) return undefined
  if (entry.type === 'acknowledgement') {
    const { by, note } = entry
    return {
      ...row,
      acknowledged_at_ms: at,
      acknowledged_by: by,
      ...(note !== undefined && { acknowledgement: note }),
      sequence: seq,
      hash,
    }
  }
  const { outcome, response_digest, code } = entry
  return {
    ...row,
    outcome,
    concluded_at_ms: at,
    sequence: seq,
    hash,
    ...(response_digest !== undefined && { response_digest }),
    ...(code !== undefined && { code }),
  }
}
