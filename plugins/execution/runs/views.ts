/** Runs as clients see them: made from the record and the journal. */
import type { JournalEntry, RunEvent, RunEventEntry, RunRecord, RunView } from './contract.js'
import { isSettled } from './machine.js'
import { entryAt, queuedLane, type RunStore } from './store.js'
import type { ApprovalRequest, Decider } from '../approvals/contract.js'
import type { UserQuestionRequest } from '../questions/contract.js'
import type { DeliveryView } from '../deliveries/contract.js'
import type { DaemonOutputRecord } from '../sessions/contract.js'

export const outputRecord = (
  session_id: string,
  run_id: string,
  event: Extract<RunEvent, { type: 'output' }>,
): DaemonOutputRecord => ({ session_id, run_id, ...event.output, address: null })

const eventAt = (store: RunStore, session_id: string, seq: number): RunEvent | undefined => {
  const entry = entryAt(store, session_id, seq)
  return entry?.type === 'event' ? entry.event : undefined
}

const waitingEvent = (store: RunStore, run: RunRecord): RunEvent | undefined =>
  'waiting' in run ? eventAt(store, run.session_id, run.waiting) : undefined

export const openApprovals = (store: RunStore, run: RunRecord): ApprovalRequest[] => {
  const event = waitingEvent(store, run)
  return event?.type === 'waiting_for_approval' ? event.requests.filter(({ id }) => isOpen(run, id)) : []
}

export const openQuestions = (store: RunStore, run: RunRecord): UserQuestionRequest[] => {
  const event = waitingEvent(store, run)
  return event?.type === 'waiting_for_user_question' ? event.requests.filter(({ id }) => isOpen(run, id)) : []
}

const isOpen = (run: RunRecord, id: string): boolean => 'pending' in run && run.pending.includes(id)

/** Who or what decided on a request of the run; undefined if it has not been decided on. */
export const deciderOf = (store: RunStore, run: RunRecord, request_id: string): Decider | undefined => {
  for (const { event } of ownEvents(store, run)) {
    const decided =
      event.type === 'approval_resolved'
        ? event.resolutions
        : event.type === 'user_question_resolved'
          ? [event.resolution]
          : []
    const found = decided.find((resolution) => resolution.request_id === request_id)
    if (found !== undefined) return found.decided_by
  }
  return undefined
}

/** The outputs of a run, oldest first. */
export const outputsOf = (store: RunStore, run: RunRecord): DaemonOutputRecord[] =>
  (run.outputs ?? []).flatMap((seq) => {
    const event = eventAt(store, run.session_id, seq)
    return event?.type === 'output' ? [outputRecord(run.session_id, run.run_id, event)] : []
  })

/** Position in its session's queue; 1 is next. */
const position = (store: RunStore, run: RunRecord): number =>
  store.runs.ids('lane', queuedLane(run.session_id)).indexOf(run.run_id) + 1

/** What became of its outputs. A run without outputs costs no look. */
export const deliveriesOf = (store: RunStore, run: RunRecord): DeliveryView[] =>
  run.outputs === undefined ? [] : (store.outbox()?.ofRun(run.run_id) ?? [])

/** The view of a run as it is now. Made for every change of every run, so its members are set, not spread. */
export const viewRun = (store: RunStore, run: RunRecord, deliveries = deliveriesOf(store, run)): RunView => {
  const view = frameOf(run, run.status === 'queued' ? position(store, run) : 0)
  const first = eventAt(store, run.session_id, run.first)
  if (first?.type === 'accepted' && first.metadata !== undefined) view.input_metadata = first.metadata
  if ('waiting' in run)
    Object.assign(view, approvalsOf(openApprovals(store, run)), questionsOf(openQuestions(store, run)))
  if (run.outputs !== undefined && run.outputs.length > 0) view.outputs = outputsOf(store, run)
  if (deliveries.length > 0) view.deliveries = deliveries
  return view
}

/** What needs no journal. */
const frameOf = (run: RunRecord, queued_position: number): RunView => {
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
  if (!isSettled(run)) return view
  view.finished_at_ms = run.finished_at_ms
  if (run.error !== undefined) view.error = run.error
  return view
}

const summaryOf = ({
  source_plugin,
  source_kind,
  actor_id,
  text_preview,
  provider,
  model,
  fallback_model,
  approvals,
  questions,
}: RunRecord): RunView['request'] => {
  const summary: RunView['request'] = { source_plugin, source_kind, actor_id, provider, model }
  if (text_preview !== '') summary.text_preview = text_preview
  if (fallback_model !== undefined) summary.fallback_model = fallback_model
  if (approvals !== undefined) summary.approval_count = approvals
  if (questions !== undefined) summary.question_count = questions
  return summary
}

const metadataOf = (event: RunEvent | undefined): Pick<RunView, 'input_metadata'> =>
  event?.type === 'accepted' && event.metadata !== undefined ? { input_metadata: event.metadata } : {}
const approvalsOf = (requests: ApprovalRequest[]): Pick<RunView, 'pending_approval_ids' | 'pending_approvals'> =>
  requests.length === 0 ? {} : { pending_approval_ids: requests.map(({ id }) => id), pending_approvals: requests }
const questionsOf = (requests: UserQuestionRequest[]): Pick<RunView, 'pending_question_ids' | 'pending_questions'> =>
  requests.length === 0 ? {} : { pending_question_ids: requests.map(({ id }) => id), pending_questions: requests }

/** The persisted events of a run, each projection as the run was at that moment. */
export const runEvents = (store: RunStore, run: RunRecord): RunEventEntry[] => foldEvents(run, ownEvents(store, run))

type EventEntry = Extract<JournalEntry, { type: 'event' }>

const ownEvents = (store: RunStore, run: RunRecord): EventEntry[] =>
  store.journal
    .read(run.session_id, { after: run.first - 1, limit: run.last - run.first + 1 })
    .flatMap(({ entry }) => (entry.run_id === run.run_id && entry.type === 'event' ? [entry] : []))

const foldEvents = (run: RunRecord, entries: readonly EventEntry[]): RunEventEntry[] => {
  const { started_at_ms: _, finished_at_ms: __, error, queued_position: ___, ...start } = frameOf(run, 0)
  let projection: RunView = { ...start, status: 'queued', updated_at_ms: run.submitted_at_ms }
  return entries.map(({ at, event }) => {
    projection = projectEvent(projection, at, event)
    const shown = error !== undefined && isEnd(event) ? { ...projection, error } : projection
    return {
      timestamp_ms: at,
      run_id: run.run_id,
      session_id: run.session_id,
      agent_id: run.agent_id,
      event: showEvent(run, event, shown),
    }
  })
}

const isEnd = (event: RunEvent): boolean =>
  event.type === 'interrupted' || event.type === 'cancelled' || event.type === 'failed'

const projectEvent = (before: RunView, at: number, event: RunEvent): RunView => {
  const next: RunView = { ...before, updated_at_ms: at }
  switch (event.type) {
    case 'accepted':
      return { ...next, ...metadataOf(event) }
    case 'queued':
      return { ...next, status: 'queued', queued_position: event.position }
    case 'started': {
      const { queued_position: _, ...rest } = next
      return { ...rest, status: 'running', started_at_ms: before.started_at_ms ?? at }
    }
    case 'waiting_for_approval':
      return { ...next, status: 'waiting_for_approval', ...approvalsOf(event.requests) }
    case 'waiting_for_user_question':
      return { ...next, status: 'waiting_for_user_question', ...questionsOf(event.requests) }
    case 'approval_resolved':
    case 'user_question_resolved':
      return { ...withoutPending(next), status: 'running' }
    case 'output':
      return { ...next, outputs: [...(before.outputs ?? []), outputRecord(before.session_id, before.run_id, event)] }
    default: {
      const { queued_position: _, ...rest } = withoutPending(next)
      return { ...rest, status: event.type, finished_at_ms: at }
    }
  }
}

const withoutPending = (view: RunView): RunView => {
  const {
    pending_approval_ids: _,
    pending_approvals: __,
    pending_question_ids: ___,
    pending_questions: ____,
    ...rest
  } = view
  return rest
}

const showEvent = (run: RunRecord, event: RunEvent, projection: RunView): RunEventEntry['event'] => {
  switch (event.type) {
    case 'accepted':
    case 'started':
    case 'completed':
    case 'interrupted':
    case 'cancelled':
      return { type: event.type, run: projection }
    case 'queued':
      return { type: 'queued', position: event.position, run: projection }
    case 'output':
      return { type: 'output', output: outputRecord(run.session_id, run.run_id, event) }
    default:
      return event
  }
}
