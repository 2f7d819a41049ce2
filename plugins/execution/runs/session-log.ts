/** `SessionEventLogView`: the journal of a session as it is shown. Contract 1, "Session". */
import type { Caller, Json, JsonObject, StreamEntry } from '../../../core/plugin.js'
import type { DaemonOutputRecord, SessionRecord, Sessions } from '../sessions/contract.js'
import type { JournalEntry, RunEventEntry } from './contract.js'
import type { RunStore } from './store.js'
import { eventsBySequence } from './run-events.js'
import { outputRecord } from './views.js'

const defaultLimit = 2000

export interface LogRange {
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

export const sessionLog = (
  { store, sessions }: { readonly store: RunStore; readonly sessions: Sessions },
  session: SessionRecord,
  range: LogRange & { readonly caller: Caller },
) => {
  const { session_id } = session
  const limit = range.limit ?? defaultLimit
  const after = range.after ?? Math.max(0, store.journal.length(session_id) - limit)
  const entries = store.journal.read(session_id, { after, limit })
  const outputs = entries.flatMap(({ entry }) => outputIn(session_id, entry))
  return {
    session: {
      session_id,
      journal: entries.map(showEntry),
      checkpoints: [],
      audits: entries.flatMap(({ entry }): Json[] => (entry.type === 'audit' ? [entry.audit] : [])),
      outputs,
      metadata: sessions.metadata(session, range.caller),
    },
    daemon_outputs: outputs,
    run_events: eventsOf(store, entries),
  }
}

const outputIn = (session_id: string, entry: JournalEntry): DaemonOutputRecord[] =>
  entry.type === 'event' && entry.event.type === 'output' ? [outputRecord(session_id, entry.run_id, entry.event)] : []

const showEntry = ({ seq, entry }: StreamEntry<JournalEntry>) => {
  const { run_id, at, type, ...rest } = entry
  const shown: JsonObject = rest
  return { seq, run_id, timestamp_ms: at, type, entry: shown }
}

/** Events of the runs that appear in these entries, in journal order. */
const eventsOf = (store: RunStore, entries: readonly StreamEntry<JournalEntry>[]): RunEventEntry[] => {
  const known = new Map<string, Map<number, RunEventEntry>>()
  return entries.flatMap(({ seq, entry: { type, run_id } }) => {
    const run = type === 'event' ? store.runs.find(run_id) : undefined
    if (run === undefined) return []
    const events = known.get(run_id) ?? eventsBySequence(store, run)
    known.set(run_id, events)
    return events.get(seq) ?? []
  })
}
