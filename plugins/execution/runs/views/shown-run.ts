/** Runs as clients see them: made from the record and the journal. */
import type { Caller } from '../../../../core/plugin.js'
import type { RunView } from './run-view.js'
import { nextAttemptAt, type RouteWait, type RunRecord } from '../record/run-record.js'
import { isTerminal } from '../record/machine.js'
import { shownMetadata } from '../record/origin.js'
import { openApprovals, openQuestions } from '../record/requests.js'
import { eventAt, queuedLane, type RunStore } from '../record/store.js'
import type { RunDeliveries, ReplyHandle } from '../../deliveries/contract.js'
import { type RunEvent, shownHandle, type DaemonOutputRecord } from '../../sessions/contract.js'

type Output = Extract<RunEvent, { type: 'output' }>

/** An output as it is shown; `handle` is its first target, its address already hidden if it is not for all. */
export const outputRecord = (
  { session_id, run_id }: Pick<RunRecord, 'session_id' | 'run_id'>,
  { output }: Output,
  handle: ReplyHandle | undefined,
): DaemonOutputRecord => ({
  session_id,
  run_id,
  address: handle?.address ?? null,
  ...output,
  ...(handle !== undefined && { plugin: handle.plugin }),
})

/** Shows outputs of one run by their sequence; where they went is looked up once. */
export const outputViewer = (
  store: RunStore,
  run: Pick<RunRecord, 'session_id' | 'run_id'>,
  { caller, deliveries }: RunShow = {},
): ((seq: number, event: Output) => DaemonOutputRecord) => {
  let targets = deliveries?.targets
  return (seq, event) => {
    targets ??= store.outbox()?.ofRun(run.run_id).targets
    const handle = targets?.get(seq)
    return outputRecord(run, event, handle === undefined ? undefined : shownHandle(handle, caller))
  }
}

/** The outputs of a run, newest first, each read when it is asked for. */
export function* newestOutputs(store: RunStore, run: RunRecord, show: RunShow = {}): Generator<DaemonOutputRecord> {
  const view = outputViewer(store, run, show)
  for (const seq of run.outputs?.toReversed() ?? []) {
    const event = eventAt(store, run.session_id, seq)
    if (event?.type === 'output') yield view(seq, event)
  }
}

/** Bytes of outputs that one view shows. */
const mostOutputBytes = 2_097_152

/** What a view shows of outputs that come newest first: as many as fit, one at least, oldest first. */
export const shownOutputs = (
  newest: Iterable<DaemonOutputRecord>,
  most = Infinity,
): { outputs: DaemonOutputRecord[]; outputs_truncated?: true } => {
  const outputs: DaemonOutputRecord[] = []
  let left = mostOutputBytes
  for (const output of newest) {
    const [first] = outputs
    // Most runs have one output, which is shown whatever it weighs.
    if (first !== undefined) left -= outputs.length === 1 ? bytesOf(first) + bytesOf(output) : bytesOf(output)
    if (outputs.length === most || left < 0) return { outputs: outputs.reverse(), outputs_truncated: true }
    outputs.push(output)
  }
  return { outputs: outputs.reverse() }
}
const bytesOf = (output: DaemonOutputRecord): number => Buffer.byteLength(JSON.stringify(output))

/** Position in its session's queue; 1 is next. */
const position = (store: RunStore, run: RunRecord): number =>
  store.runs.ids('lane', queuedLane(run.session_id)).indexOf(run.run_id) + 1

/** What became of its outputs. A run without outputs costs no look. */
export const deliveriesOf = (store: RunStore, run: RunRecord): RunDeliveries =>
  (run.outputs === undefined ? undefined : store.outbox()?.ofRun(run.run_id)) ?? noDeliveries

/** Of a run none of whose outputs went anywhere. */
export const noDeliveries: RunDeliveries = { views: [], targets: new Map() }

/** Who a view is for, and what became of outputs as of an earlier moment. */
export interface RunShow {
  readonly caller?: Caller | undefined
  readonly deliveries?: RunDeliveries
}

/** The files that a run was given. */
export const shownFiles = (event: RunEvent | undefined): Pick<RunView, 'input_attachments'> =>
  event?.type === 'accepted' && event.files !== undefined ? { input_attachments: [...event.files] } : {}

/** The view of a run as it is now. Made for every change of every run, so its members are set, not spread. */
export const viewRun = (
  store: RunStore,
  run: RunRecord,
  { caller, deliveries = deliveriesOf(store, run) }: RunShow = {},
): RunView => {
  const view = frameOf(run, run.status === 'queued' ? position(store, run) : 0)
  const first = eventAt(store, run.session_id, run.first)
  Object.assign(
    view,
    shownFiles(first),
    shownMetadata(first?.type === 'accepted' ? first.metadata : undefined, run.origin),
  )
  if ('waiting' in run)
    Object.assign(view, approvalsOf(openApprovals(store, run)), questionsOf(openQuestions(store, run)))
  if (run.outputs !== undefined && run.outputs.length > 0)
    Object.assign(view, shownOutputs(newestOutputs(store, run, { caller, deliveries })))
  const worktree = run.isolation === undefined ? undefined : store.workspaces()?.find(run.run_id)
  if (worktree !== undefined) view.worktree = worktree
  if (deliveries.views.length > 0) view.deliveries = [...deliveries.views]
  return view
}

/** What needs no journal. */
export const frameOf = (run: RunRecord, queued_position: number): RunView => {
  const { run_id, session_id, agent_id, kind, status, submitted_at_ms, updated_at_ms } = run
  const view: RunView = {
    run_id,
    session_id,
    agent_id,
    kind,
    status,
    submitted_at_ms,
    updated_at_ms,
    request: summaryOf(run),
  }
  if ('started_at_ms' in run && run.started_at_ms !== undefined) view.started_at_ms = run.started_at_ms
  if (queued_position > 0) view.queued_position = queued_position
  if (run.retry_of !== undefined) view.retry_of = run.retry_of
  if (run.isolation !== undefined) view.isolation = run.isolation
  if (run.usage !== undefined) view.usage = run.usage
  if (run.status === 'running' && run.route_wait !== undefined)
    view.waiting_for_model_route = showRouteWait(run.route_wait, nextAttemptAt(run))
  if (run.status === 'running' && run.held_call !== undefined) view.model_call_held = run.held_call
  if (!isTerminal(run)) return view
  view.finished_at_ms = run.finished_at_ms
  if (run.error !== undefined) view.error = run.error
  if (run.answer_ended !== undefined) view.answer_ended = run.answer_ended
  return view
}

const showRouteWait = (
  { attempts, since_ms, code, message }: RouteWait,
  next_attempt_at_ms: number,
): RunView['waiting_for_model_route'] => ({ attempts, since_ms, next_attempt_at_ms, code, message })

const summaryOf = ({
  source_plugin,
  source_kind,
  actor_id,
  text_preview,
  provider,
  model,
  fallback_model,
  pinned,
  approvals,
  questions,
}: RunRecord): RunView['request'] => {
  const summary: RunView['request'] = { source_plugin, source_kind, actor_id, provider, model }
  if (text_preview !== '') summary.text_preview = text_preview
  if (fallback_model !== undefined) summary.fallback_model = fallback_model
  if (pinned !== undefined && pinned.revision > 0) summary.runtime_revision = pinned.revision
  if (approvals !== undefined) summary.approval_count = approvals
  if (questions !== undefined) summary.question_count = questions
  return summary
}

export const approvalsOf = (
  requests: NonNullable<RunView['pending_approvals']>,
): Pick<RunView, 'pending_approval_ids' | 'pending_approvals'> =>
  requests.length === 0 ? {} : { pending_approval_ids: requests.map(({ id }) => id), pending_approvals: requests }
export const questionsOf = (
  requests: NonNullable<RunView['pending_questions']>,
): Pick<RunView, 'pending_question_ids' | 'pending_questions'> =>
  requests.length === 0 ? {} : { pending_question_ids: requests.map(({ id }) => id), pending_questions: requests }
