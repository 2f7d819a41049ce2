/**
 * What a kill kept from being remembered. Its cost follows what ended since the last mark, not the number of stored
 * runs.
 */
import type { Clock } from '../../../../core/plugin.js'
import type { RunRecord, Runs, TerminalRun } from '../../runs/contract.js'
import type { RunMemoryPolicy } from './policy.js'
import { isRemembered } from './memory.js'
import type { Recorder } from './recorder.js'
import { markId, type MemoryStore } from './store.js'

/** Runs looked at, at most: also in a root that had no memory before. */
const lookback = 10_000
/** Runs looked at without a pause. */
const slice = 100

interface CatchUp {
  readonly store: MemoryStore
  readonly runs: Runs
  readonly clock: Clock
  readonly policy: RunMemoryPolicy
  readonly recorder: Pick<Recorder, 'take' | 'caughtUp'>
  readonly signal: AbortSignal
}

const hasEnded = (run: RunRecord): run is TerminalRun => 'finished_at_ms' in run

/** Takes every run that ended and is not remembered, in the background. */
export const catchUp = async ({ store, runs, clock, policy, recorder, signal }: CatchUp): Promise<void> => {
  const mark = store.marks.find(markId)
  const oldest = clock.now() - policy.retention_ms
  const look = (run: RunRecord): void => {
    if (hasEnded(run) && run.finished_at_ms > oldest && !isRemembered(store.memories.find(run.session_id), run.run_id))
      recorder.take(run)
  }
  for (let from = 0; from < (mark?.open.length ?? 0) && (await clock.sleep(0, signal)); from += slice) {
    for (const run_id of mark?.open.slice(from, from + slice) ?? []) {
      const run = runs.find(run_id)
      if (run !== undefined) look(run)
    }
  }
  let before: string | undefined
  for (let seen = 0; seen < lookback && (await clock.sleep(0, signal)); seen += slice) {
    const page = runs.newest({ limit: slice, ...(before !== undefined && { before }) })
    const later = page.filter(({ run_id }) => run_id > (mark?.after ?? ''))
    later.forEach(look)
    if (later.length < slice) break
    before = later.at(-1)?.run_id
  }
  if (!signal.aborted) recorder.caughtUp()
}
