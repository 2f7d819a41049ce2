/**
 * `TaskOutputView`: what a task has put out, perhaps after waiting for its end (tasks-6 and tasks-7).
 */
import type { OutputWish, SessionTask, TaskOutput, TaskOutputView, TaskRunner } from './contract.js'
import { getTask } from './changes.js'
import { hasEnded, viewTask, type TaskStore } from './store.js'
import type { Waits } from './waits.js'

export interface OutputParts {
  readonly store: TaskStore
  readonly waits: Waits
  readonly runners: () => readonly TaskRunner[]
}

export const defaultTailBytes = 8_192
const mostTailBytes = 262_144

export interface OutputQuery {
  readonly wait: boolean
  readonly timeout_ms: number
  readonly tail_bytes: number
  readonly full: boolean
  readonly signal: AbortSignal
}

/** The last bytes of a text, without a character that is cut in two. */
const tailOf = (text: string, limit: number): string => {
  const bytes = Buffer.from(text)
  let at = Math.max(0, bytes.length - limit)
  while (((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1
  return bytes.subarray(at).toString()
}

/** The output that a record carries itself. */
const ownOutput = ({ output = '' }: SessionTask, { tail_bytes, full }: OutputWish): TaskOutput => {
  const [size, excerpt] = [Buffer.byteLength(output), tailOf(output, tail_bytes)]
  return {
    output_excerpt: excerpt,
    ...(full && { output_text: output }),
    output_truncated: !full && excerpt.length < output.length,
    output_size_bytes: size,
    output_total_bytes: size,
    output_rotated: false,
    output_rotation_count: 0,
  }
}

const statusOf = (task: SessionTask, waited: boolean): TaskOutputView['retrieval_status'] => {
  if (hasEnded(task)) return 'success'
  return waited ? 'timeout' : 'not_ready'
}

/** Throws `task_not_found` (404). */
export const readOutput = async (
  { store, waits, runners }: OutputParts,
  { session_id, task_id }: { session_id: string; task_id: string },
  query: OutputQuery,
): Promise<TaskOutputView> => {
  const find = (): SessionTask => getTask({ find: (id) => store.find(session_id, id) }, task_id)
  if (query.wait && !hasEnded(find())) await waits.until(task_id, query)
  const task = find()
  const wish: OutputWish = { full: query.full, tail_bytes: Math.min(query.tail_bytes, mostTailBytes) }
  const runner = runners().find(({ kind }) => kind === task.runner)
  return {
    retrieval_status: statusOf(task, query.wait),
    task: viewTask(task),
    ...(runner?.output(task, wish) ?? ownOutput(task, wish)),
  }
}
