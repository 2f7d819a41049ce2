import { doc, object, string } from '../../../core/plugin.js'
import { keepsOutputs, type Runs } from '../runs/contract.js'
import { defineTool, failedCall, type Tool } from '../tools/contract.js'
import { deliverable, mayNotify, type FindOutbox } from './contact.js'
import type { Sessions } from '../sessions/contract.js'
import { contactErrors } from './errors.js'

const Notice = object({ message: doc(string({ min: 1, max: 20_000 }), 'What the operator should know.') })

/**
 * The notice, its deliveries and the call's outcome are one commit: a repetition after a crash cannot send it twice
 * (sessions-26).
 */
export const notifyOperator = ({
  sessions,
  outbox,
  runs,
}: {
  readonly sessions: Sessions
  readonly outbox: FindOutbox
  readonly runs: Runs
}): Tool =>
  defineTool({
    name: 'notify_operator',
    seldom: true,
    description: 'Sends a message to the operator of this session, who may not be watching. It cannot be answered.',
    input: Notice,
    effect: 'read',
    parallel: false,
    timeout_ms: 10_000,
    sandbox: 'inherited',
    run: ({ message }, { session_id, run_id }) => {
      const session = sessions.get(session_id)
      if (!mayNotify(session.operator))
        return failedCall(contactErrors.operator_contact_off({ details: { what: 'notified' } }))
      if (message.trim() === '') return failedCall(contactErrors.operator_notice_blank())
      const run = runs.find(run_id)
      if (run !== undefined && keepsOutputs(run)) return failedCall(contactErrors.operator_notice_stays())
      const targets = deliverable(outbox(), session)
      if (targets.length === 0) return failedCall(contactErrors.operator_unreachable())
      const output = { content: message.trim(), source_kind: 'operator_notification' as const }
      return { type: 'result', output: { queued: targets.length }, apply: (tx) => runs.output(tx, run_id, output) }
    },
  })
