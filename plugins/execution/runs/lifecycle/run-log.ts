/** What the log says about runs: one line for each fact that an operator would look for. */
import type { Log, RepairStep } from '../../../../core/plugin.js'
import { openStatuses, type RunRecord, type TerminalRun } from '../record/run-record.js'
import type { Verdict } from './repair.js'
import type { RunStore } from '../record/store.js'

/** The stable code at the beginning of an error. */
export const codeIn = (error: string | undefined): string | undefined => /^([a-z][a-z0-9_]*):/u.exec(error ?? '')?.[1]

const facts = {
  failed: 'a run failed',
  interrupted: 'a run was interrupted',
  cancelled: 'a run was cancelled',
} as const

/** A run that ended otherwise than completed. */
export const tellEnd = (log: Log, run: TerminalRun): void => {
  const { run_id, session_id, status, error } = run
  if (status === 'completed') return
  log[status === 'failed' ? 'warn' : 'info'](facts[status], {
    run_id,
    session_id,
    code: codeIn(error) ?? status,
    ...(error !== undefined && { reason: error }),
  })
}

const verdictFacts = {
  resume: 'a run goes on that an earlier life of the daemon left',
  requeue: 'a run was put back into its queue, because another one holds the slot of its session',
} as const

/** The same step, whose verdicts are in the log. Runs that a verdict ends are told as all that end. */
export const tellingVerdicts = (log: Log, step: RepairStep<Verdict>): RepairStep<Verdict> => ({
  ...step,
  async fix(verdicts) {
    await step.fix(verdicts)
    for (const { run_id, type } of verdicts)
      if (type === 'resume' || type === 'requeue') log.info(verdictFacts[type], { run_id })
  },
})

/** What a stop leaves for the next start. */
export const tellLeft = (log: Log, { runs }: Pick<RunStore, 'runs'>): void => {
  const counts = openStatuses.flatMap((status): [RunRecord['status'], number][] => {
    const count = runs.count('status', status)
    return count === 0 ? [] : [[status, count]]
  })
  if (counts.length > 0) log.info('runs are left for the next start', Object.fromEntries(counts))
}
