/** Ending work on purpose. A run is ended only when what it started has ended, within bounds. */
import type { RunRecord, RunEvent } from './contract.js'
import { editRun } from './edit.js'
import { runErrors } from './errors.js'
import { tellToStop } from './executor.js'
import type { Desk } from './executor.js'
import { isSettled } from './machine.js'
import type { EngineParts, Stop } from './parts.js'
import { activeRun } from './activity.js'
import { queuedLane } from './store.js'

/** Ends one run. A run that already ended so is left as it is; one that ended otherwise is refused with `run_state_conflict`. */
export const stopOne = async ({ parts, executor }: Desk, run_id: string, stop: Stop): Promise<RunRecord> => {
  const { runs } = parts.store
  const find = (): RunRecord => {
    const run = runs.find(run_id)
    if (run === undefined) throw runErrors.run_not_found({ details: { run_id } })
    return run
  }
  const execution = executor.find(run_id)
  if (execution !== undefined && !isSettled(find())) {
    tellToStop(execution, stop)
    await Promise.race([execution.done, parts.clock.sleep(parts.config.stop_grace_ms * 2)])
  }
  const run = find()
  const to = run.status === 'queued' || stop.kind === 'cancel' ? 'cancelled' : 'interrupted'
  if (isSettled(run)) {
    if (run.status === to) return run
    throw runErrors.run_state_conflict({ details: { run_id, from: run.status, to } })
  }
  return endNow({ parts, executor }, run, { to, error: stop.reason })
}

const endNow = async ({ parts, executor }: Desk, run: RunRecord, { to, error }: { to: 'cancelled' | 'interrupted'; error: string | undefined }): Promise<RunRecord> => {
  const event: RunEvent = { type: to, ...(error !== undefined && { error }) }
  const ended = await parts.store.state.commit((tx) => {
    const edit = editRun(parts, tx, run)
    edit.step({ to, error }, event)
    return edit.save()
  })
  executor.offer(run.session_id)
  return ended
}

/** Ends the active run of a session, if there is one. */
export const interruptSession = async ({ parts, executor }: Desk, session_id: string, stop: Stop): Promise<boolean> => {
  const active = activeRun(parts.store, session_id)
  if (active === undefined) return false
  const ended = await stopOne({ parts, executor }, active.run_id, stop).catch((error: unknown) => {
    const now = parts.store.runs.find(active.run_id)
    if (now !== undefined && isSettled(now)) return now
    throw error
  })
  return ended.status === 'interrupted'
}

/** Cancels all queued runs of a session in one commit. */
export const cancelQueued = async (parts: EngineParts, session_id: string, error: string): Promise<void> => {
  const { runs, state } = parts.store
  const ids = [...runs.ids('lane', queuedLane(session_id))]
  if (ids.length === 0) return
  await state.commit((tx) => {
    for (const id of ids) {
      const run = runs.find(id)
      if (run?.status !== 'queued') continue
      const edit = editRun(parts, tx, run)
      edit.step({ to: 'cancelled', error }, { type: 'cancelled', error })
      edit.save()
    }
  })
}
