/** `SessionEventLogView`: the journal of a session as it is shown (sessions-28). */
import {
  doc,
  integer,
  json,
  object,
  string,
  timestamp,
  type Caller,
  type Infer,
  type Json,
  type JsonObject,
  type Stream,
  type StreamEntry,
} from '../../../../core/plugin.js'
import type { DaemonOutputRecord, SessionRecord, Sessions, JournalEntry } from '../../sessions/contract.js'
import type { RunEventEntry } from './run-event-view.js'
import type { RunStore } from '../record/store.js'
import { eventsBySequence } from './run-events.js'
import { outputViewer } from './shown-run.js'

/** An entry of the session journal as it is shown. */
export const JournalView = object({
  seq: integer(),
  run_id: doc(string(), 'Id of the run.'),
  timestamp_ms: timestamp(),
  type: string(),
  entry: json(),
})

const defaultLimit = 2000
/** Bytes of one answer, with all that it repeats of an entry. */
const mostBytes = 2_097_152
/** Entries read at once. */
const step = 64

export interface LogRange {
  readonly after?: number | undefined
  readonly limit?: number | undefined
}

interface LogParts {
  readonly store: RunStore
  readonly sessions: Sessions
}

export const sessionLog = (
  { store, sessions }: LogParts,
  session: SessionRecord,
  { caller, ...range }: LogRange & { readonly caller: Caller },
) => {
  const { session_id } = session
  const first = store.journal.first(session_id)
  const found = readPage(store.journal, session_id, { ...range, show: rowsOf(store, session_id, caller) })
  const events = eventsOf(store, found, caller)
  const rows = fitting(range.after === undefined ? found.toReversed() : found, events)
  const outputs = rows.flatMap(({ output }) => output ?? [])
  return {
    session: {
      session_id,
      journal: rows.map(({ entry }) => entry),
      checkpoints: [],
      audits: rows.flatMap(({ audit }) => audit ?? []),
      outputs,
      metadata: sessions.metadata(session, caller),
      ...(first > 1 && { first_seq: first }),
    },
    daemon_outputs: outputs,
    run_events: rows.flatMap(({ event }) => event ?? []),
  }
}

type Entry = StreamEntry<JournalEntry>

/** Everything that an answer shows of one entry. */
interface Row {
  readonly entry: Infer<typeof JournalView>
  readonly audit?: Json | undefined
  readonly output?: DaemonOutputRecord | undefined
  readonly event?: RunEventEntry | undefined
}

const bytesOf = (value: unknown): number => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))
/** An output stands in an answer twice beside its event. */
const weigh = ({ entry, audit, output, event }: Row): number =>
  bytesOf(entry) + bytesOf(audit) + 2 * bytesOf(output) + bytesOf(event)

/** Says of one row after the other whether it still fits into one answer; the first one does. */
const createMeasure = (): ((row: Row) => boolean) => {
  let used = 0
  return (row) => {
    const isFirst = used === 0
    used += weigh(row)
    return isFirst || used <= mostBytes
  }
}

/** Entries after one, or the newest: as many as the limit and the bytes of one answer allow, one at least. */
export const readPage = (
  journal: Stream<JournalEntry>,
  session_id: string,
  { after, limit = defaultLimit, show }: LogRange & { readonly show: (entry: Entry) => Row },
): Row[] => {
  const length = journal.length(session_id)
  const first = Math.max(after ?? length - limit, journal.first(session_id) - 1)
  const last = Math.min(length, first + limit)
  const rows: Row[] = []
  const fits = createMeasure()
  for (let done = 0; done < last - first; done += step) {
    const count = Math.min(step, last - first - done)
    const part = journal.read(session_id, {
      after: after === undefined ? last - done - count : first + done,
      limit: count,
    })
    for (const entry of after === undefined ? part.toReversed() : part) {
      const row = show(entry)
      if (!fits(row)) return inOrder(rows)
      rows.push(row)
    }
  }
  return inOrder(rows)
}

const inOrder = (rows: readonly Row[]): Row[] => rows.toSorted((a, b) => a.entry.seq - b.entry.seq)

/** Events of the runs that these entries belong to. */
const eventsOf = (store: RunStore, rows: readonly Row[], caller: Caller): ReadonlyMap<number, () => RunEventEntry> => {
  const ids = new Set(rows.map(({ entry }) => entry.run_id))
  const runs = [...ids].flatMap((id) => store.runs.find(id) ?? [])
  return eventsBySequence(store, runs, { caller, first: rows[0]?.entry.seq ?? 0, last: rows.at(-1)?.entry.seq ?? 0 })
}

/** As many rows as fit with their events, one at least. */
const fitting = (found: readonly Row[], events: ReadonlyMap<number, () => RunEventEntry>): Row[] => {
  const rows: Row[] = []
  const fits = createMeasure()
  for (const one of found) {
    const row = { ...one, event: events.get(one.entry.seq)?.() }
    if (!fits(row)) break
    rows.push(row)
  }
  return inOrder(rows)
}

/** Shows entries of one session; where the outputs of a run went is looked up once. */
const rowsOf = (store: RunStore, session_id: string, caller: Caller): ((entry: Entry) => Row) => {
  const viewers = new Map<string, ReturnType<typeof outputViewer>>()
  const viewerOf = (run_id: string): ReturnType<typeof outputViewer> => {
    const view = viewers.get(run_id) ?? outputViewer(store, { session_id, run_id }, { caller })
    viewers.set(run_id, view)
    return view
  }
  return ({ seq, entry }) => {
    const { run_id, at, type, ...rest } = entry
    const shown: JsonObject = rest
    const event = entry.type === 'event' ? entry.event : undefined
    return {
      entry: { seq, run_id, timestamp_ms: at, type, entry: shown },
      audit: entry.type === 'audit' ? entry.audit : undefined,
      output: event?.type === 'output' ? viewerOf(run_id)(seq, event) : undefined,
    }
  }
}
