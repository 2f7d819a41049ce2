/** Moments that follow from what runs become: told, never waited for. */
import type { Events } from '../../../core/plugin.js'
import type { Interception, Moment } from '../../execution/interception/contract.js'
import { RunUpdated } from '../../execution/runs/contract.js'

const momentOf: Readonly<Record<string, Moment>> = {
  waiting_for_approval: 'notification',
  waiting_for_user_question: 'elicitation',
  failed: 'stop_failure',
}

/** Tells of runs that wait for somebody or have failed; gives what ends that. */
export const tellOfRuns = (events: Events, interception: Interception): (() => void) =>
  events.on(RunUpdated, ({ run }) => {
    const event = momentOf[run.status]
    if (event === undefined || !interception.wants(event)) return
    const { run_id, session_id, agent_id, status, error } = run
    const payload = { status, ...(error !== undefined && error !== null && { error }) }
    interception.tell({ event, run_id, session_id, agent_id, payload })
  })
