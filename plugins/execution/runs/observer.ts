/** Evidence of model attempts and tool calls: put together only while somebody wants it. */
import { defineToken, type Token } from '../../../core/plugin.js'
import type { Usage } from '../models/contract.js'
import type { Execution } from './parts.js'

/** One model attempt or tool call, as it was. Times in Unix ms and ms. */
export interface Observed {
  readonly run_id: string
  readonly session_id: string
  readonly kind: 'model' | 'tool'
  /** The route, or the tool. */
  readonly name: string
  readonly turn: number
  readonly attempt: number
  readonly tool_call_id?: string
  readonly started_at_ms: number
  readonly duration_ms: number
  /** How it ended: `stop`, `tool_calls`, `length`, `result`, `failed`, … */
  readonly outcome: string
  readonly code?: string
  readonly usage?: Usage
  /** What was asked, and what came back. They may change after the call: copy what is kept. */
  readonly request: unknown
  readonly answer: unknown
}

/** Looks at what runs do. */
export interface RunObserver {
  /** False while nothing is wanted. */
  readonly active: boolean
  /** Must not throw and must not wait. */
  observe(observed: Observed): void
}
export const RunObserver: Token<RunObserver> = defineToken<RunObserver>('run-observer@1')

type Subject = Pick<Observed, 'kind' | 'name' | 'turn' | 'attempt' | 'tool_call_id' | 'request'>
type Ending = Pick<Observed, 'outcome' | 'code' | 'usage' | 'answer'>

/** Makes a call; what it was and how it ended is shown to the observer, if there is one that wants it. */
export const observed = async <T>(
  { parts, run_id, session_id }: Execution,
  make: () => Promise<T>,
  { subject, ending }: { subject: () => Subject; ending: (value: T) => Ending },
): Promise<T> => {
  const observer = parts.observer()
  if (observer?.active !== true) return make()
  const [started_at_ms, from] = [parts.clock.now(), parts.clock.elapsed()]
  const value = await make()
  observer.observe({
    run_id,
    session_id,
    started_at_ms,
    duration_ms: Math.round(parts.clock.elapsed() - from),
    ...subject(),
    ...ending(value),
  })
  return value
}
