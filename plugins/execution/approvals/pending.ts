import { ApprovalRequestView } from '../sessions/contract.js'
import {
  doc,
  arraySource,
  enums,
  fault,
  listPage,
  named,
  object,
  string,
  type Infer,
  type ListReply,
  type PageRequest,
  type Skip,
} from '../../../core/plugin.js'
import { runKinds, type Runs, type WaitingRun } from '../runs/contract.js'

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

/** Pending requests by session and request id. Only what is shown is read from the journal. */
export const pendingApprovals = (
  runs: Runs,
  session_id: string | undefined,
  query: PageRequest & { readonly skip?: Skip },
): ListReply<PendingApprovalView> => {
  const waiting = runs
    .waiting('waiting_for_approval')
    .filter((run) => session_id === undefined || run.session_id === session_id)
  return listPage({
    query,
    source: arraySource(
      waiting.flatMap((run) => run.pending.map((id) => ({ run, id }))),
      ({ run, id }) => `${run.session_id}:${id}`,
    ),
    label: 'session_id_asc,request_id_asc',
    view: ({ run, id }) => viewOf(runs, run, id),
    skip: query.skip,
  })
}

const viewOf = (runs: Runs, run: WaitingRun, request_id: string): PendingApprovalView => {
  const request = runs.openApprovals(run).find(({ id }) => id === request_id)
  if (request === undefined) throw fault('a pending approval is not in the journal')
  const { session_id, agent_id, run_id, kind } = run
  return { session_id, agent_id, run_id, run_kind: kind, request }
}
