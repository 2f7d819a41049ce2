/** Questions whose runs ended otherwise than by an answer: who asked is told that nobody answered (clarification-5). */
import { tellFailure, type Clock, type Log } from '../../../core/plugin.js'
import type { Decider, SessionEndGuard } from '../../execution/sessions/contract.js'
import { settleIn, tellAsker, type SettleParts } from './settle.js'
import type { Clarification } from './store.js'

export interface EndingParts extends SettleParts {
  readonly log: Log
  readonly clock: Clock
}

/** Pause before what could not be told is told again, milliseconds. */
const againMs = 1000

const unanswered = (request_id: string, decided_by: Decider, justification: string) => ({
  request_id,
  answers: [],
  declined: true,
  justification,
  decided_by,
})

/** Looks at what an earlier life left, and at each run that ends. Returns its end. */
export const watchEnds = (parts: EndingParts): (() => void) => {
  for (const asked of parts.store.all()) void decline(parts, asked)
  return parts.runs.onEnded(({ run_id }) => {
    const asked = parts.store.ofRun(run_id)
    if (asked !== undefined) void decline(parts, asked)
  })
}

/** Nothing is done for one whose run still waits. */
const decline = async (parts: EndingParts, asking: Clarification): Promise<void> => {
  const { clock, store, state, runs, log } = parts
  const { run_id, requester_session_id } = asking
  try {
    await state.commit((tx) => {
      const [asked, run] = [store.find(requester_session_id), runs.find(run_id)]
      if (asked?.run_id !== run_id || (run !== undefined && !('finished_at_ms' in run))) return
      const resolution = unanswered(asked.request_id, 'cancel', 'the question was taken back')
      tellAsker(parts, tx, { asked, resolution })
    })
  } catch (error) {
    tellFailure({ log, state }, 'an agent could not be told what became of its question', { run_id, error })
    clock.after(againMs, () => void decline(parts, asking))
  }
}

/** A session that ends answers nothing any more. */
export const endGuard = (parts: SettleParts): SessionEndGuard => ({
  id: 'clarification',
  veto: () => undefined,
  ended(tx, session_id) {
    for (const { run_id, request_id } of parts.store.askedOf(session_id)) {
      const run = parts.runs.find(run_id)
      const request = run && parts.runs.openQuestions(run).find(({ id }) => id === request_id)
      if (run === undefined || request === undefined || !('pending' in run)) continue
      const resolution = unanswered(request_id, 'cancel', 'the session of the parent was ended')
      settleIn(parts, tx, { run, request, resolution })
    }
  },
})
