/** What becomes of a task follows from its run. */
import type { RunRecord, Runs, RunStatus } from '../../../execution/runs/contract.js'
import { mostOutput } from '../record/fields.js'
import { isDone, type ProjectTaskRecord, type ProjectTaskStatus } from '../record/record.js'

const statuses: Readonly<Record<RunStatus, ProjectTaskStatus>> = {
  queued: 'pending',
  running: 'in_progress',
  waiting_for_approval: 'in_progress',
  waiting_for_user_question: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  interrupted: 'failed',
  cancelled: 'cancelled',
}
export const statusOf = ({ status }: Pick<RunRecord, 'status'>): ProjectTaskStatus => statuses[status]
export const hasEnded = (run: RunRecord): boolean => 'finished_at_ms' in run

/** The beginning of a text, cut between characters. */
export const cutTo = (text: string, most: number): string => {
  if (Buffer.byteLength(text) <= most) return text
  const bytes = Buffer.from(text.slice(0, most)).subarray(0, most)
  // A character that is cut in two is left out.
  return new TextDecoder().decode(bytes).replace(/\uFFFD+$/u, '')
}

/** What the model said last where it put nothing out. */
const lastSaid = (runs: Pick<Runs, 'entries'>, run: RunRecord): string | undefined => {
  let said: string | undefined
  for (const { entry } of runs.entries(run)) {
    if (entry.type !== 'message' || entry.message.role !== 'assistant') continue
    const text = entry.message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
    if (text.trim() !== '') said = text
  }
  return said
}

const labels = {
  failed: 'The run failed.',
  interrupted: 'The run was interrupted.',
  cancelled: 'The run was cancelled.',
}

/** What came of a run that has ended: its last output that is not blank, else what it said last, or why it ended. */
export const outputOf = (runs: Pick<Runs, 'texts' | 'entries'>, run: RunRecord): string | undefined => {
  if (!('finished_at_ms' in run)) return undefined
  const { outcome } = runs.texts(run)
  const output = outcome ?? (run.status === 'completed' ? lastSaid(runs, run) : run.error?.trim() || labels[run.status])
  return output === undefined ? undefined : cutTo(output, mostOutput)
}

/**
 * The task as its run has it now, or undefined where that is how it is. One that is done already, such as by an agent
 * that said so, stays as it is; when the run has ended it is followed no more.
 */
export const followed = (
  task: ProjectTaskRecord,
  run: RunRecord,
  output: string | undefined,
): ProjectTaskRecord | undefined => {
  const { follows: _, ...free } = task
  if (isDone(task.status)) return hasEnded(run) ? free : undefined
  const { output: __, ...bare } = free
  if (hasEnded(run)) return { ...bare, status: statusOf(run), ...(output !== undefined && { output }) }
  return statusOf(run) === task.status ? undefined : { ...task, status: statusOf(run) }
}

const lost = (run_id: string): string =>
  `The run ${run_id} of the task is not there any more: nobody can tell what came of it.`

/** The task as it is by now, with all that its run has become. One whose run is gone has failed. */
export const caughtUp = (
  runs: Pick<Runs, 'find' | 'texts' | 'entries'>,
  task: ProjectTaskRecord,
): ProjectTaskRecord => {
  const { follows, latest_run_id, ...rest } = task
  if (follows !== true || latest_run_id === undefined) return task
  const run = runs.find(latest_run_id)
  if (run !== undefined) return followed(task, run, outputOf(runs, run)) ?? task
  return isDone(task.status) ? rest : { ...rest, status: 'failed', output: lost(latest_run_id) }
}
