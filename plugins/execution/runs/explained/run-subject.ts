/** A run as something that may be asked about (explanations-3). */
import { cutAtWord, sentence } from '../../../../core/plugin.js'
import type { Subject, SubjectSource } from '../../../operator/explanations/contract.js'
import type { RunRecord } from '../record/run-record.js'
import type { RunStore } from '../record/store.js'

/** Characters of an error that are told. */
const mostText = 500

const because = (what: string, error: string | undefined): string =>
  error === undefined ? sentence(what) : sentence(`${what}: ${cutAtWord(error, mostText)}`)

const textOf = (run: RunRecord): string => {
  switch (run.status) {
    case 'queued':
      return 'It has not begun.'
    case 'running':
      return 'It is under way.'
    case 'waiting_for_approval':
      return 'It waits until somebody allows or denies what it wants to do.'
    case 'waiting_for_user_question':
      return 'It waits for an answer.'
    case 'completed':
      return 'It is done.'
    case 'failed':
      return because('It failed', run.error)
    default:
      return because(`It was ${run.status}`, run.error)
  }
}

const sinceOf = (run: RunRecord): number => {
  if (run.status === 'queued') return run.submitted_at_ms
  if (run.status === 'running') return run.started_at_ms
  return 'finished_at_ms' in run ? run.finished_at_ms : run.updated_at_ms
}

const subjectOf = (run: RunRecord): Subject => ({
  kind: 'run',
  id: run.run_id,
  session_id: run.session_id,
  status: run.status,
  text: textOf(run),
  since_ms: sinceOf(run),
})

export const runSubjects = ({ runs }: Pick<RunStore, 'runs'>): SubjectSource => ({
  id: 'runs',
  find(id) {
    const run = runs.find(id)
    return run && subjectOf(run)
  },
  hasFallen: (id) => runs.hasFallen(id),
})
