/** The end of evidence: by age, for room, or because an operator says so. */
import { thrownText, type Clock, type Log } from '../../../core/plugin.js'
import type { RunRecord, Runs } from '../runs/contract.js'
import type { DebugConfig } from './config.js'
import { byAge, oldestFirst, refOf, type DebugRecord, type DebugStore } from './store.js'

export interface RetentionParts {
  readonly store: DebugStore
  readonly runs: Runs
  readonly config: DebugConfig
  readonly clock: Clock
  readonly log: Log
  /** Aborts when the plugin stops: what is long ends at its next step. */
  readonly signal: AbortSignal
}

/** When a run ended, long ago if it fell; undefined while it may go on. */
const endOf = (run: RunRecord | undefined): number | undefined =>
  run === undefined ? 0 : 'finished_at_ms' in run ? run.finished_at_ms : undefined

/**
 * Drops the evidence of a run: first the record, then the bytes. A kill in
 * between leaves bytes that no record names, which the next start removes.
 * A run that may go on keeps its record, so that its artifacts are numbered on.
 */
export const dropEvidence = async (
  { store, runs, log }: Pick<RetentionParts, 'store' | 'runs' | 'log'>,
  run_id: string,
  reason: string,
): Promise<void> => {
  const gone = await store.state.commit((tx) => {
    const record = store.runs.find(run_id)
    if (record === undefined) return undefined
    if (endOf(runs.find(run_id)) === undefined) tx.put(store.runs, { ...record, bytes: 0, artifacts: [] })
    else {
      tx.remove(store.runs, run_id, reason)
      store.dropped.set(run_id, true)
    }
    return record
  })
  store.held.add(-(gone?.bytes ?? 0))
  for (const artifact of gone?.artifacts ?? []) {
    await store.blobs.remove(refOf(artifact)).catch((error: unknown) =>
      log.warn('bytes of evidence could not be removed; the next start tries again', {
        run_id,
        error: thrownText(error),
      }),
    )
  }
}

/** The first records of an order for which something holds; the one after them is the last that is read. */
const firstOf = (records: Iterable<DebugRecord>, holds: (record: DebugRecord) => boolean): DebugRecord[] => {
  const found: DebugRecord[] = []
  for (const record of records) {
    if (!holds(record)) break
    found.push(record)
  }
  return found
}

/**
 * Evidence with a stamp from the future, which a wrong clock left, is as old as what runs after its own left: ids are
 * in order whatever the clock says.
 */
const expired = (store: DebugStore, { now, ttl }: { now: number; ttl: number }): DebugRecord[] => {
  const groups = ['all', 'empty'] as const
  const old = groups.flatMap((group) =>
    firstOf(byAge(store, { group }), ({ updated_at_ms }) => updated_at_ms <= now - ttl),
  )
  const newestOld = old.reduce((most, { run_id }) => (run_id > most ? run_id : most), '')
  const ahead = groups.flatMap((group) =>
    firstOf(byAge(store, { group, newest: true }), ({ updated_at_ms }) => updated_at_ms > now),
  )
  return [...old, ...ahead.filter(({ run_id }) => run_id < newestOld)]
}

/** Pieces are written behind their run, by so much at most. Milliseconds, no more than runs are kept for at least. */
const behindMs = 3_600_000

/** Evidence whose run fell. Those runs were written last before the oldest part began that is left. */
const orphaned = ({ store, runs }: Pick<RetentionParts, 'store' | 'runs'>): DebugRecord[] => {
  const kept = store.state.retention.kinds().find(({ kind }) => kind === 'runs')
  const since = kept?.partitions.find(({ no }) => no > kept.fell)?.from ?? 0
  return (['all', 'empty'] as const)
    .flatMap((group) => firstOf(byAge(store, { group }), ({ updated_at_ms }) => updated_at_ms <= since + behindMs))
    .filter(({ run_id }) => runs.find(run_id) === undefined)
}

export interface Retention {
  /** Drops what is older than its time to live, and what has no run any more. */
  expire(): Promise<void>
  /** Makes room for so many bytes, at the cost of the oldest ended runs; false if there is none. */
  room(bytes: number): Promise<boolean>
  prune(request: PruneRequest): Promise<PruneReport>
}

export interface PruneRequest {
  readonly older_than_ms: number
  readonly session_id?: string | undefined
  readonly limit?: number | undefined
  readonly dry_run: boolean
}
export interface PruneReport {
  dry_run: boolean
  now_ms: number
  cutoff_ms: number
  limit?: number
  matched_run_count: number
  candidate_run_ids: string[]
  candidate_debug_bytes: number
  pruned_debug_run_ids: string[]
  pruned_debug_bytes: number
}

const sum = (records: readonly DebugRecord[]): number => records.reduce((all, { bytes }) => all + bytes, 0)

export const createRetention = (parts: RetentionParts): Retention => {
  const { store, runs, config, clock, signal } = parts
  const expire = async (): Promise<void> => {
    const old = expired(store, { now: clock.now(), ttl: config.ttl_ms })
    for (const { run_id, artifacts } of [...old, ...orphaned(parts)]) {
      if (signal.aborted) return
      if (artifacts.length > 0 || endOf(runs.find(run_id)) !== undefined) await dropEvidence(parts, run_id, 'expired')
    }
  }
  const room = async (bytes: number): Promise<boolean> => {
    if (config.max_store_bytes === undefined) return true
    if (bytes > config.max_store_bytes) return false
    const most = config.max_store_bytes - bytes
    if (store.held.bytes() <= most) return true
    for (const { run_id } of oldestFirst(store)) {
      if (endOf(runs.find(run_id)) === undefined) continue
      await dropEvidence(parts, run_id, 'no room')
      if (store.held.bytes() <= most) return true
    }
    return false
  }
  const prune = async ({ older_than_ms, session_id, limit, dry_run }: PruneRequest): Promise<PruneReport> => {
    const now_ms = clock.now()
    const cutoff_ms = now_ms - older_than_ms
    const matched = [...oldestFirst(store)].filter(
      (record) =>
        (session_id === undefined || record.session_id === session_id) &&
        (endOf(runs.find(record.run_id)) ?? Infinity) <= cutoff_ms,
    )
    const candidates = matched.slice(0, limit)
    const pruned: DebugRecord[] = []
    for (const record of dry_run ? [] : candidates) {
      if (signal.aborted) break
      await dropEvidence(parts, record.run_id, 'pruned')
      pruned.push(record)
    }
    return {
      dry_run,
      now_ms,
      cutoff_ms,
      ...(limit !== undefined && { limit }),
      matched_run_count: matched.length,
      candidate_run_ids: candidates.map(({ run_id }) => run_id),
      candidate_debug_bytes: sum(candidates),
      pruned_debug_run_ids: pruned.map(({ run_id }) => run_id),
      pruned_debug_bytes: sum(pruned),
    }
  }
  return { expire, room, prune }
}

/** Looks for old evidence now and then and behind a fall until the plugin stops, which waits for the look under way. */
export const watchAge = ({ store, clock, config, log, signal }: RetentionParts, retention: Retention): void => {
  const look = (): Promise<void> =>
    retention
      .expire()
      .catch((error: unknown) => log.warn('old evidence could not be removed', { error: thrownText(error) }))
  const lookOn = (): Promise<void> =>
    look().finally(() => {
      if (!signal.aborted) clock.after(config.gc_interval_ms, lookOn)
    })
  clock.after(0, lookOn)
  store.state.retention.onFall((kind) => {
    if (kind === 'runs' && !signal.aborted) clock.after(0, look)
  })
}
