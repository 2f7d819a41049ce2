/** Moments that follow from what runs become: told once, never waited for. */
import { unsafeCast, type Events, type JsonObject } from '../../../core/plugin.js'
import type { Interception, Moment } from '../../execution/interception/contract.js'
import { RunUpdated, type RunView } from '../../execution/runs/contract.js'

interface Told {
  readonly event: Moment
  /** What it is about: a run is announced as often as anything of it changes. */
  readonly about: readonly string[]
  readonly payload: JsonObject
}

type Approval = NonNullable<RunView['pending_approvals']>[number]

const shownApproval = (approval: Approval): object => {
  const { id, input, input_digest: _, scope: __, grant_rule: ___, ...rest } = approval
  return { request_id: id, tool_input: input, ...rest }
}

const waiting = (run: RunView, about: readonly string[], requests: readonly object[]): JsonObject => ({
  status: run.status,
  request_ids: about,
  requests: unsafeCast<readonly JsonObject[]>(requests),
})

const toldOf = (run: RunView): Told | undefined => {
  const { status, error, pending_approvals: approvals = [], pending_questions: questions = [] } = run
  const ids = (requests: readonly { readonly id: string }[]): readonly string[] => requests.map(({ id }) => id)
  switch (status) {
    case 'waiting_for_approval':
      return {
        event: 'notification',
        about: ids(approvals),
        payload: waiting(run, ids(approvals), approvals.map(shownApproval)),
      }
    case 'waiting_for_user_question':
      return {
        event: 'elicitation',
        about: ids(questions),
        payload: waiting(
          run,
          ids(questions),
          questions.map(({ id, ...rest }) => ({ request_id: id, ...rest })),
        ),
      }
    case 'failed':
      return {
        event: 'stop_failure',
        about: [status],
        payload: { status, ...(error !== undefined && error !== null && { error }) },
      }
    default:
      return undefined
  }
}

/** Runs that are remembered at most, the oldest fall. */
const mostKnown = 10_000

const moments = ['notification', 'elicitation', 'stop_failure'] as const

/** Tells of runs that wait for somebody or have failed; gives what ends that. */
export const tellOfRuns = (events: Events, interception: Interception): (() => void) => {
  const known = new Map<string, readonly string[]>()
  const tell = (run: RunView): void => {
    const told = toldOf(run)
    const { run_id, session_id, agent_id } = run
    const before = known.get(run_id) ?? []
    known.delete(run_id)
    if (told === undefined || !interception.wants(told.event)) return
    known.set(run_id, told.about)
    if (known.size > mostKnown) for (const oldest of [...known.keys()].slice(0, 1)) known.delete(oldest)
    if (told.about.every((one) => before.includes(one))) return
    const { event, payload } = told
    interception.tell({ event, run_id, session_id, agent_id, payload })
  }
  return events.on(RunUpdated, ({ run }) => tell(run), {
    wanted: () => moments.some((moment) => interception.wants(moment)),
  })
}
