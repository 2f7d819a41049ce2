/** Waiting for the end of a task. */
import type { Clock } from '../../../core/plugin.js'

export interface Waits {
  /**
   * Resolves when the task has ended, the time is over, or the signal aborts. The caller has seen that it is open, in
   * the same turn of the event loop.
   */
  until(task_id: string, limit: { readonly timeout_ms: number; readonly signal: AbortSignal }): Promise<void>
  ended(task_id: string): void
}

export const createWaits = (clock: Clock, stopping: AbortSignal): Waits => {
  const waiting = new Map<string, Set<AbortController>>()
  return {
    async until(task_id, { timeout_ms, signal }) {
      const mine = new AbortController()
      const others = waiting.get(task_id) ?? new Set()
      waiting.set(task_id, others.add(mine))
      await clock.sleep(timeout_ms, AbortSignal.any([signal, stopping, mine.signal]))
      others.delete(mine)
      if (others.size === 0 && waiting.get(task_id) === others) waiting.delete(task_id)
    },
    ended(task_id) {
      for (const one of waiting.get(task_id) ?? []) one.abort()
    },
  }
}
