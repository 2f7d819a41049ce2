/** Ending work on purpose. A run is ended only when what it started has ended, within bounds. */
import { thrownText, type Tx } from '../../../../core/plugin.js'
import type { RunRecord, StopRequest } from '../record/run-record.js'
import type { RunEvent } from '../../sessions/contract.js'
import { editRun } from './run-changes.js'
import { runErrors } from '../record/errors.js'
import { getRun } from '../record/get-run.js'
import type { ControlContext } from './executor.js'
import { isTerminal } from '../record/machine.js'
import { activeRun } from '../views/session-status.js'
import { queuedLane } from '../record/store.js'

/**
 * Ends one run. A run that already ended so is left as it is; one that ended otherwise is refused with
 * `run_state_conflict`.
 */
export const stopOne = async (context: ControlContext, run_id: string, stop: StopRequest): Promise<RunRecord> => {
  const find = (): RunRecord => getRun(context.store, run_id)
  if (context.executor.executes(run_id) && !isTerminal(find())) {
    remember(context, run_id, stop)
    await Promise.race([context.executor.stop(run_id, stop), context.clock.sleep(context.config.stop_grace_ms * 2)])
  }
  const run = find()
  const to = run.status === 'queued' || stop.kind === 'cancel' ? 'cancelled' : 'interrupted'
  if (isTerminal(run)) {
    if (run.status === to) return run
    throw runErrors.run_state_conflict({ details: { run_id, from: run.status, to } })
  }
  return endNow(context, run, { to, error: stop.reason })
}

/**
 * Nobody waits for this commit: what the stop leads to comes after it in the log, so a kill in between leaves a run
 * that still has to end.
 */
const remember = (context: ControlContext, run_id: string, stop: StopRequest): void => {
  context.store.state
    .commit((tx) => {
      const run = context.store.runs.find(run_id)
      if (run?.status === 'running' && run.stopping === undefined)
        tx.put(context.store.runs, { ...run, stopping: stop })
    })
    .catch((error: unknown) =>
      context.log.warn('a request to stop could not be kept', { run_id, error: thrownText(error) }),
    )
}

const endNow = async (
  context: ControlContext,
  run: RunRecord,
  { to, error }: { to: 'cancelled' | 'interrupted'; error: string | undefined },
): Promise<RunRecord> => {
  const event: RunEvent = { type: to, ...(error !== undefined && { error }) }
  const ended = await context.store.state.commit((tx) => {
    const edit = editRun(context, tx, run)
    edit.step({ to, error }, event)
    return edit.save()
  })
  context.executor.wake(run.session_id)
  return ended
}

/** Ends the active run of a session, if there is one. */
export const interruptSession = async (
  context: ControlContext,
  session_id: string,
  stop: StopRequest,
): Promise<boolean> => {
  const active = activeRun(context.store, session_id)
  if (active === undefined) return false
  const ended = await stopOne(context, active.run_id, stop).catch((error: unknown) => {
    const now = context.store.runs.find(active.run_id)
    if (now !== undefined && isTerminal(now)) return now
    throw error
  })
  return ended.status === 'interrupted'
}

/**
 * What ends with a session, in the commit that ends it: queued runs are cancelled, a waiting one is interrupted, and
 * one that executes will be.
 */
export const endRuns = (
  context: ControlContext,
  tx: Tx,
  { session_id, stop }: { session_id: string; stop: StopRequest },
): void => {
  const { runs } = context.store
  const queued = [...runs.ids('lane', queuedLane(session_id))]
  for (const id of queued)
    endRun(context, tx, { id, to: 'cancelled', error: 'session_ended: the session was ended before this run started.' })
  const active = activeRun(context.store, session_id)
  if (active?.status === 'running') tx.put(runs, { ...active, stopping: active.stopping ?? stop })
  else if (active !== undefined) endRun(context, tx, { id: active.run_id, to: 'interrupted', error: stop.reason })
}

const endRun = (
  context: ControlContext,
  tx: Tx,
  { id, to, error }: { id: string; to: 'cancelled' | 'interrupted'; error: string | undefined },
): void => {
  const run = context.store.runs.find(id)
  if (run === undefined) return
  const edit = editRun(context, tx, run)
  edit.step({ to, error }, { type: to, ...(error !== undefined && { error }) })
  edit.save()
}
