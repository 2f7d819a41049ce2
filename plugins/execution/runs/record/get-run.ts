/** The one place where a run is looked up for somebody who names it. */
import type { Problem } from '../../../../core/plugin.js'
import { runErrors } from './errors.js'
import type { RunRecord } from './run-record.js'
import type { RunStore } from './store.js'

type Runs = Pick<RunStore, 'runs'>

/** What `getRun` throws, for the problems of a route. */
export const noRun = [runErrors.run_not_found, runErrors.run_expired] as const

/** Why a run is not there: it never was, as far as is known, or it fell. */
export const absentRun = ({ runs }: Runs, run_id: string): Problem => {
  const { run_expired, run_not_found } = runErrors
  return (runs.hasFallen(run_id) ? run_expired : run_not_found)({ details: { run_id } })
}

/** Throws `run_not_found` or `run_expired` (404). */
export const getRun = (store: Runs, run_id: string): RunRecord => {
  const run = store.runs.find(run_id)
  if (run === undefined) throw absentRun(store, run_id)
  return run
}
