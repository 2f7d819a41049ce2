/** What a run asks people: what is open, who decided, and how it is closed when the run ends or starts anew. */
import { digest } from '../../../../core/plugin.js'
import type {
  ApprovalRequest,
  Decider,
  ResolvedApproval,
  ResolvedQuestion,
  RunEvent,
  UserQuestionRequest,
} from '../../sessions/contract.js'
import type { RunRecord } from './run-record.js'
import { eventAt, ownEntries, type RunStore } from './store.js'

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
  for (const { entry } of ownEntries(store, run)) {
    const event = entry.type === 'event' ? entry.event : undefined
    const decided =
      event?.type === 'approval_resolved'
        ? event.resolutions
        : event?.type === 'user_question_resolved'
          ? [event.resolution]
          : []
    const found = decided.find((resolution) => resolution.request_id === request_id)
    if (found !== undefined) return found.decided_by
  }
  return undefined
}

/** How a question of the run was settled. */
export const resolutionOf = (store: RunStore, run: RunRecord, request_id: string): ResolvedQuestion | undefined => {
  for (const { entry } of ownEntries(store, run)) {
    const event = entry.type === 'event' ? entry.event : undefined
    if (event?.type !== 'user_question_resolved' && event?.type !== 'parent_clarification_resolved') continue
    if (event.resolution.request_id === request_id) return event.resolution
  }
  return undefined
}

/** The tool that the latest call with an id is of; undefined if the run made none. */
export const calledTool = (store: RunStore, run: RunRecord, tool_call_id: string): string | undefined => {
  let name: string | undefined
  for (const { entry } of ownEntries(store, run)) {
    if (entry.type !== 'message') continue
    for (const part of entry.message.content)
      if (part.type === 'tool_call' && part.id === tool_call_id) name = part.name
  }
  return name
}

/** The earliest deadline of some requests; undefined if none has one. */
export const deadlineOf = (requests: readonly { readonly expires_at_ms?: number }[]): number | undefined =>
  requests.reduce<number | undefined>(
    (least, { expires_at_ms: at }) => (at === undefined || (least !== undefined && least <= at) ? least : at),
    undefined,
  )

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
  asking: Asking,
  { decided_by, except }: Closing = { decided_by: 'cancel' },
): void => {
  const resolutions = openApprovals(store, asking.run).map(({ id, input, input_digest }): ResolvedApproval => ({
    request_id: id,
    behavior: 'deny',
    decided_by,
    input_digest: input_digest ?? digest(input),
  }))
  if (resolutions.length > 0) asking.event({ type: 'approval_resolved', resolutions })
  for (const { id } of openQuestions(store, asking.run)) {
    if (id !== except)
      asking.event({
        type: 'user_question_resolved',
        resolution: { request_id: id, answers: [], declined: true, decided_by },
      })
  }
}
