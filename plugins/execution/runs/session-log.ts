/** `SessionEventLogView`: the journal of a session as it is shown (sessions-28). */
import {
  doc,
  integer,
  json,
  object,
  string,
  timestamp,
  type Caller,
  type Json,
  type JsonObject,
  type Stream,
  type StreamEntry,
} from '../../../core/plugin.js'
import type { DaemonOutputRecord, SessionRecord, Sessions, JournalEntry } from '../sessions/contract.js'
import type { RunEventEntry } from './contract.js'
import type { RunStore } from './store.js'
import { eventsBySequence } from './run-events.js'
import { outputViewer } from './views.js'

/** An entry of the session journal as it is shown. */
export const JournalView = object({
  seq: integer(),
  run_id: doc(string(), 'Id of the run.'),
  timestamp_ms: timestamp(),
  type: string(),
  entry: json(),
})

const defaultLimit = 2000
/** Characters of the entries of one answer, which shows some of them twice. */
const mostText = 2_097_152
/** Entries read at once. */
const step = 64

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
  const entries = readEntries(store.journal, session_id, range)
  const outputs = outputsIn(store, session_id, { entries, caller: range.caller })
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
    run_events: eventsOf(store, entries, range.caller),
  }
}

type Entries = readonly StreamEntry<JournalEntry>[]

/** Entries after one, or the newest: as many as the limit and the text of one answer allow, one at least. */
export const readEntries = (journal: Stream<JournalEntry>, session_id: string, range: LogRange): Entries => {
  const { after, limit = defaultLimit } = range
  const length = journal.length(session_id)
  const first = after ?? Math.max(0, length - limit)
  const last = Math.min(length, first + limit)
  const entries: StreamEntry<JournalEntry>[] = []
  let left = mostText
  for (let done = 0; done < last - first; done += step) {
    const count = Math.min(step, last - first - done)
    const part = journal.read(session_id, {
      after: after === undefined ? last - done - count : first + done,
      limit: count,
    })
    for (const entry of after === undefined ? part.toReversed() : part) {
      left -= JSON.stringify(entry.entry).length
      if (left < 0 && entries.length > 0) return inOrder(entries)
      entries.push(entry)
    }
  }
  return inOrder(entries)
}

const inOrder = (entries: Entries): Entries => entries.toSorted((a, b) => a.seq - b.seq)

interface Page {
  readonly entries: readonly StreamEntry<JournalEntry>[]
  readonly caller: Caller
}

const outputsIn = (store: RunStore, session_id: string, { entries, caller }: Page): DaemonOutputRecord[] => {
  const viewers = new Map<string, ReturnType<typeof outputViewer>>()
  return entries.flatMap(({ seq, entry }) => {
    if (entry.type !== 'event' || entry.event.type !== 'output') return []
    const { run_id } = entry
    const view = viewers.get(run_id) ?? outputViewer(store, { session_id, run_id }, { caller })
    viewers.set(run_id, view)
    return [view(seq, entry.event)]
  })
}

const showEntry = ({ seq, entry }: StreamEntry<JournalEntry>) => {
  const { run_id, at, type, ...rest } = entry
  const shown: JsonObject = rest
  return { seq, run_id, timestamp_ms: at, type, entry: shown }
}

/** Events of the runs that appear in these entries, in journal order. */
const eventsOf = (store: RunStore, entries: readonly StreamEntry<JournalEntry>[], caller: Caller): RunEventEntry[] => {
  const known = new Map<string, Map<number, RunEventEntry>>()
  return entries.flatMap(({ seq, entry: { type, run_id } }) => {
    const run = type === 'event' ? store.runs.find(run_id) : undefined
    if (run === undefined) return []
    const events = known.get(run_id) ?? eventsBySequence(store, run, caller)
    known.set(run_id, events)
    return events.get(seq) ?? []
  })
}
