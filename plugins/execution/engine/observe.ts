/** What model attempts and tool calls were: put together only while somebody wants it. */
import type { Observed, RunObserver } from './contract.js'
import type { Execution } from './execution.js'

type Subject = Pick<Observed, 'kind' | 'name' | 'turn' | 'attempt' | 'tool_call_id' | 'request'>
type Ending = Pick<Observed, 'outcome' | 'code' | 'usage' | 'answer'>

const isActive = ({ active }: RunObserver): boolean => active

/**
 * Makes a call; what it was and how it ended is shown to the observers that wanted it when it began. One that throws
 * changes nothing for the run and for the others.
 */
export const observed = async <T>(
  { context, run_id, session_id }: Execution,
  make: () => Promise<T>,
  { subject, ending }: { subject: () => Subject; ending: (value: T) => Ending },
): Promise<T> => {
  const all = context.observers()
  if (!all.some(isActive)) return make()
  const wanting = all.filter(isActive)
  const [started_at_ms, from] = [context.clock.now(), context.clock.elapsed()]
  const value = await make()
  const duration_ms = Math.round(context.clock.elapsed() - from)
  const seen: Observed = Object.assign({ run_id, session_id, started_at_ms, duration_ms }, subject(), ending(value))
  for (const observer of wanting)
    try {
      observer.observe(seen)
    } catch (error) {
      context.log.error('an observer threw, which its contract forbids', { run_id, observer: observer.name, error })
    }
  return value
}
