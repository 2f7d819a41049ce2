/** Who looks at model attempts and tool calls as they are, for evidence and measures. */
import { definePoint, hasMembers, type Point } from '../../../core/plugin.js'
import type { Usage } from '../models/contract.js'

/** What a call would fail with that nobody has made. */
export { foreseenFault } from './thread/foreseen.js'
export type { ForeseenCall } from './thread/foreseen.js'

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
  /** Who looks, such as `debug`. */
  readonly name: string
  /** False while nothing is wanted: while that holds for all, nothing is put together. */
  readonly active: boolean
  /** Called in the order in which the attempts and calls of a run ended. Must not throw and must not wait. */
  observe(observed: Observed): void
}
/** Everybody who looks at what runs do; one that throws takes nothing from the others. */
export const RunObservers: Point<RunObserver> = definePoint<RunObserver>(
  'run-observers@1',
  (observer) => observer.name,
  hasMembers('an observer of runs', { name: 'id', observe: 'function' }),
)
