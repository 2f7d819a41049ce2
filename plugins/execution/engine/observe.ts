/** Evidence of model attempts and tool calls: put together only while somebody wants it. */
import type { Observed } from './contract.js'
import type { Execution } from './execution.js'

type Subject = Pick<Observed, 'kind' | 'name' | 'turn' | 'attempt' | 'tool_call_id' | 'request'>
type Ending = Pick<Observed, 'outcome' | 'code' | 'usage' | 'answer'>

/**
 * Makes a call; what it was and how it ended is shown to the observer, if there is one that wants it. One that throws
 * changes nothing for the run.
 */
export const observed = async <T>(
  { context, run_id, session_id }: Execution,
  make: () => Promise<T>,
  { subject, ending }: { subject: () => Subject; ending: (value: T) => Ending },
): Promise<T> => {
  const observer = context.observer()
  if (observer?.active !== true) return make()
  const [started_at_ms, from] = [context.clock.now(), context.clock.elapsed()]
  const value = await make()
  try {
    observer.observe({
      run_id,
      session_id,
      started_at_ms,
      duration_ms: Math.round(context.clock.elapsed() - from),
      ...subject(),
      ...ending(value),
    })
  } catch (error) {
    context.log.error('an observer threw, which its contract forbids', { run_id, error })
  }
  return value
}
