import { ApprovalRequestView } from '../sessions/contract.js'
import {
  doc,
  enums,
  fault,
  named,
  object,
  string,
  type Infer,
  type ListReply,
  type PageRequest,
  type Skip,
} from '../../../core/plugin.js'
import { pendingPage, runKinds, type Runs, type WaitingRun } from '../runs/contract.js'

/** A request for approval with the run that waits for it: what `PendingQuestionView` is for questions. */
export const PendingApprovalView = named(
  'PendingApprovalView',
  object({
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    run_id: doc(string(), 'Id of the run.'),
    run_kind: doc(enums(runKinds), 'What kind of run it is.'),
    request: ApprovalRequestView,
  }),
)
type PendingApprovalView = Infer<typeof PendingApprovalView>

export const pendingApprovals = (
  runs: Runs,
  session_id: string | undefined,
  page: PageRequest & { readonly skip?: Skip },
): ListReply<PendingApprovalView> =>
  pendingPage({ waiting: runs.waiting('waiting_for_approval'), session_id, page, skip: page.skip }, (run, request_id) =>
    viewOf(runs, run, request_id),
  )

/** A request that a run waits for, read from the journal. */
const viewOf = (runs: Runs, run: WaitingRun, request_id: string): PendingApprovalView => {
  const request = runs.openApprovals(run).find(({ id }) => id === request_id)
  if (request === undefined) throw fault('a pending approval is not in the journal')
  const { session_id, agent_id, run_id, kind } = run
  return { session_id, agent_id, run_id, run_kind: kind, request }
}
