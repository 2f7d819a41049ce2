/** Timers of pending questions. The deadline is in the journal; the timer only watches it. */
import type { Log } from '../../../core/plugin.js'
import type { RunRecord } from '../runs/contract.js'
import type { UserQuestionRequest } from './contract.js'
import { expireQuestion } from './resolve.js'
import type { QuestionParts } from './resolve.js'

/** Watches every pending question from now on. Returns the undo. */
export const watchExpiry = (parts: QuestionParts, log: Log): (() => void) => {
  const timers = new Map<string, () => void>()
  const forget = (request_id: string): void => {
    timers.get(request_id)?.()
    timers.delete(request_id)
  }
  const watch = (run: RunRecord, requests: readonly UserQuestionRequest[]): void => {
    for (const { id, expires_at_ms } of requests) {
      if (expires_at_ms !== undefined && !timers.has(id)) arm(run.run_id, id, expires_at_ms)
    }
  }
  const arm = (run_id: string, request_id: string, expires_at_ms: number): void => {
    timers.set(request_id, parts.clock.after(Math.max(0, expires_at_ms - parts.clock.now()), () => {
      forget(request_id)
      if (parts.clock.now() < expires_at_ms) return arm(run_id, request_id, expires_at_ms)
      expireQuestion(parts, run_id, request_id).catch((error: unknown) => {
        log.warn('an expired question could not be cancelled', { run_id, request_id, error: String(error) })
        arm(run_id, request_id, parts.clock.now() + 1000)
      })
    }))
  }
  for (const run of parts.runs.waiting('waiting_for_user_question')) watch(run, parts.runs.openQuestions(run))
  const unhook = parts.runs.onQuestion(watch)
  return () => {
    unhook()
    for (const cancel of timers.values()) cancel()
    timers.clear()
  }
}
