/** What a run still asks when it ends or starts anew: no request is left open in the history. */
import type { Decider, ResolvedApproval, RunEvent } from '../sessions/contract.js'
import { digest } from '../../../core/plugin.js'
import type { RunRecord } from './run-record.js'
import type { RunStore } from './store.js'
import { openApprovals, openQuestions } from './views.js'

/** In whose name requests are closed; `except` is one that has its own event. */
export interface Closing {
  readonly decided_by: Decider
  readonly except?: string
}

/** The run as it is, and where its events go. */
interface Asking {
  readonly run: RunRecord
  event(event: RunEvent): void
}

/** Denies and declines what is open. Must come before the step that ends it. */
export const closeRequests = (
  store: RunStore,
  { run, event }: Asking,
  { decided_by, except }: Closing = { decided_by: 'cancel' },
): void => {
  const resolutions = openApprovals(store, run).map(({ id, input, input_digest }): ResolvedApproval => ({
    request_id: id,
    behavior: 'deny',
    decided_by,
    input_digest: input_digest ?? digest(input),
  }))
  if (resolutions.length > 0) event({ type: 'approval_resolved', resolutions })
  for (const { id } of openQuestions(store, run)) {
    if (id !== except)
      event({ type: 'user_question_resolved', resolution: { request_id: id, answers: [], declined: true, decided_by } })
  }
}
