import type { Collection, CollectionSpec, State, Stream, StreamEntry } from '../../../../core/plugin.js'
import { declareRunFiles, type RunFiles } from './run-files.js'
import type { RunRecord } from './run-record.js'
import { carryOverRecords, keptHandles, type Outbox, type TargetKeeper } from '../../deliveries/contract.js'
import type { RunWorkspaces } from './run-workspaces.js'
import type { JournalEntry, RunEvent } from '../../sessions/contract.js'
import { isTerminal as isSettled } from './machine.js'

/** An idempotency key that was used; `id` is the digest of scope and key. */
export type ReceiptRecord = {
  readonly id: string
  readonly digest: string
  readonly run_id: string
  readonly at: number
}

/** A key that leads to a session; `id` is its digest, because keys may be names of people. */
export type BindingRecord = { readonly id: string; readonly session_id: string; readonly at: number }

/** Groups of the index `lane`: the runs of a session that hold its slot, and those behind it. */
export const activeLane = (session_id: string): string => `active:${session_id}`
export const queuedLane = (session_id: string): string => `queued:${session_id}`

/** Groups of one session and one status. */
export const splitGroup = (session_id: string, status: RunRecord['status']): string => `${status}:${session_id}`

/** A sort key of the index `changed`, as of others by time. */
export const timeKey = (at: number, run_id: string): string => `${paddedTime(at)}:${run_id}`
/** Most times are of this century. */
const paddedTime = (at: number): string =>
  at >= 1e12 && at < 1e13 && Number.isInteger(at) ? `0000000${at}` : String(at).padStart(20, '0')

/** Four indexes ask for it, one after the other. */
let newest: { readonly run: RunRecord; readonly key: string } | undefined
export const changeKey = (run: RunRecord): string => {
  if (newest?.run !== run) newest = { run, key: timeKey(run.updated_at_ms, run.run_id) }
  return newest.key
}

/** True for a run that was executed, or failed before it could be. */
const hasBegun = (run: RunRecord): boolean =>
  run.status === 'failed' || ('started_at_ms' in run && run.started_at_ms !== undefined)

/** True for a run that is a question of another session: it holds no slot, and the runs of its own go on beside it. */
export const isBeside = ({ kind }: RunRecord): boolean => kind === 'parent_clarification'

const endKey = (run: RunRecord): string => timeKey('finished_at_ms' in run ? run.finished_at_ms : 0, run.run_id)

/** The newest run of a session that is its own: accepted last, or ended last. */
export const newestOwn = (
  { runs }: Pick<RunStore, 'runs'>,
  session_id: string,
  index: 'session' | 'ended',
): RunRecord | undefined => {
  const newest = { index, group: session_id, limit: 1, order: 'desc' } as const
  for (let [run] = runs.list(newest); run !== undefined;) {
    if (!isBeside(run)) return run
    const beyond: string = index === 'ended' ? endKey(run) : run.run_id
    ;[run] = runs.list({ ...newest, beyond })
  }
  return undefined
}

const hasSpoken = ({ outputs }: RunRecord): boolean => outputs !== undefined && outputs.length > 0

const runCollection: CollectionSpec<RunRecord> = {
  name: 'runs',
  version: 1,
  id: (run) => run.run_id,
  indexes: {
    all: { group: () => 'all' },
    session: { group: (run) => run.session_id },
    status: { group: (run) => run.status },
    session_status: { group: (run) => splitGroup(run.session_id, run.status) },
    due: {
      group: (run) => ('expires_at_ms' in run && run.expires_at_ms !== undefined ? run.status : undefined),
      sort: (run) => timeKey('expires_at_ms' in run ? (run.expires_at_ms ?? 0) : 0, run.run_id),
    },
    lane: {
      group: (run) =>
        isSettled(run) || isBeside(run)
          ? undefined
          : run.status === 'queued'
            ? queuedLane(run.session_id)
            : activeLane(run.session_id),
    },
    ended: {
      group: (run) => (isSettled(run) && hasBegun(run) ? run.session_id : undefined),
      sort: endKey,
    },
    changed: { group: (run) => (isSettled(run) ? 'all' : undefined), sort: changeKey },
    changed_session: { group: (run) => (isSettled(run) ? run.session_id : undefined), sort: changeKey },
    changed_status: { group: (run) => (isSettled(run) ? run.status : undefined), sort: changeKey },
    changed_session_status: {
      group: (run) => (isSettled(run) ? splitGroup(run.session_id, run.status) : undefined),
      sort: changeKey,
    },
    spoken: { group: (run) => (hasSpoken(run) ? run.session_id : undefined) },
    /** Questions to other sessions, by the run that asked them. */
    asker: { group: (run) => (isBeside(run) ? run.origin?.requester_run_id : undefined) },
    /** Turns that failed, by the message of a person that they were about. */
    failed_turns: { group: (run) => (run.status === 'failed' ? run.origin?.human_origin_message_id : undefined) },
    answered: { group: (run) => (hasSpoken(run) && run.said !== 0 ? run.session_id : undefined) },
  },
  settled: (run) => isSettled(run) && run.unacknowledged === undefined,
  kept: { kind: 'runs', since: (run) => run.submitted_at_ms },
  references: (run) => [{ collection: 'sessions', id: run.session_id }],
}

/**
 * A caller that repeats a request after three months under the same key is not the one that lost an answer. Until then
 * the key names the run, also where that has fallen.
 */
const receiptPromise = 90 * 86_400_000

const receiptCollection: CollectionSpec<ReceiptRecord> = {
  name: 'receipts',
  version: 1,
  id: (receipt) => receipt.id,
  indexes: {},
  settled: () => true,
  kept: { kind: 'receipts', since: (receipt) => receipt.at, promise: receiptPromise },
  references: (receipt) => [{ collection: 'runs', id: receipt.run_id }],
}

const bindingCollection: CollectionSpec<BindingRecord> = {
  name: 'session_bindings',
  version: 1,
  id: (binding) => binding.id,
  indexes: {},
  settled: () => true,
  references: (binding) => [{ collection: 'sessions', id: binding.session_id }],
}

export interface RunStore {
  readonly state: State
  readonly runs: Collection<RunRecord>
  /** The journal of each session, which sessions keep. */
  readonly journal: Stream<JournalEntry>
  readonly receipts: Collection<ReceiptRecord>
  readonly bindings: Collection<BindingRecord>
  readonly files: RunFiles
  /** What takes the outputs of runs to their targets, if a plugin does. */
  readonly outbox: () => Outbox | undefined
  /** What keeps folders of runs' own, if a plugin does. */
  readonly workspaces: () => RunWorkspaces | undefined
}

export const declareStore = (
  state: State,
  {
    journal,
    outbox = () => undefined,
    workspaces = () => undefined,
  }: Pick<RunStore, 'journal'> & Partial<Pick<RunStore, 'outbox' | 'workspaces'>>,
): RunStore => ({
  state,
  journal,
  outbox,
  workspaces,
  runs: state.collection(runCollection),
  receipts: state.collection(receiptCollection),
  bindings: state.collection(bindingCollection),
  files: declareRunFiles(state),
})

/** The one journal entry at a sequence. */
export const entryAt = (store: RunStore, session_id: string, seq: number): JournalEntry | undefined =>
  store.journal.read(session_id, { after: seq - 1, limit: 1 }).find((found) => found.seq === seq)?.entry

/** The event at a sequence, if the entry there is one. */
export const eventAt = (store: RunStore, session_id: string, seq: number): RunEvent | undefined => {
  const entry = entryAt(store, session_id, seq)
  return entry?.type === 'event' ? entry.event : undefined
}

/** Entries read at once: a run may have very many, and large ones. */
const step = 64

interface Span {
  readonly first: number
  readonly last: number
}

/** A part of a journal, oldest first; no more than a few of its entries are in memory at a time. */
export function* entriesBetween(
  { journal }: RunStore,
  session_id: string,
  { first, last }: Span,
): Generator<StreamEntry<JournalEntry>> {
  for (let after = Math.max(first, journal.first(session_id)) - 1; after < last; after += step)
    yield* journal.read(session_id, { after, limit: Math.min(step, last - after) })
}

/** What the journal has of a run behind a sequence, oldest first. */
export function* ownEntries(store: RunStore, run: RunRecord, after = 0): Generator<StreamEntry<JournalEntry>> {
  const span = { first: Math.max(run.first, after + 1), last: run.last }
  for (const found of entriesBetween(store, run.session_id, span)) if (found.entry.run_id === run.run_id) yield found
}

/** Puts reply targets of older runs as they may be stored. */
export const runKeeper = ({ state, runs }: RunStore): TargetKeeper => ({
  id: 'runs',
  carryOver: (keep, signal) =>
    carryOverRecords({ state, collection: runs, index: 'all', signal }, (run) => {
      const reply_targets = keptHandles(keep, run.reply_targets)
      return reply_targets === undefined ? undefined : { ...run, reply_targets }
    }),
})
