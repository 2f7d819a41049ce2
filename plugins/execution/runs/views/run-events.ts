/** The persisted events of a run, each with the run as it was at that moment. */
import { fault, type Caller, type JsonObject, type StreamEntry } from '../../../../core/plugin.js'
import type { RunRecord } from '../record/run-record.js'
import type { RunEventEntry } from './run-event-view.js'
import { stepsOf } from './run-steps.js'
import type { RunView } from './run-view.js'
import type { JournalEntry, RunEvent, DaemonOutputRecord } from '../../sessions/contract.js'
import { shownMetadata } from '../record/origin.js'
import { entriesBetween, ownEntries, type RunStore } from '../record/store.js'
import { approvalsOf, frameOf, outputViewer, questionsOf, shownFiles, shownOutputs } from './shown-run.js'

/** The persisted events of a run, oldest first. */
export const runEvents = (store: RunStore, run: RunRecord, caller?: Caller): RunEventEntry[] =>
  Array.from(eventsBySequence(store, [run], { caller }).values(), (show) => show())

interface EventRange {
  readonly caller?: Caller | undefined
  /** Sequences of the first and the last event. */
  readonly first?: number
  readonly last?: number
}

/**
 * Events of runs of one session by their sequence in the journal, found in one pass over it, each made when it is asked
 * for: the range of a run that waited in line holds those of the runs before it.
 */
export const eventsBySequence = (
  store: RunStore,
  runs: readonly RunRecord[],
  { caller, first = 0, last = Infinity }: EventRange,
): Map<number, () => RunEventEntry> => {
  const shown = new Map<number, () => RunEventEntry>()
  const states = beginnings(store, runs, caller)
  for (const { seq, entry } of entriesOf(store, runs, last)) {
    const state = states.get(entry.run_id)
    if (state === undefined) continue
    const output = entry.type === 'event' && entry.event.type === 'output' ? state.view(seq, entry.event) : undefined
    const projection = project(state.projection, entry, output)
    state.projection = projection
    if (entry.type !== 'event' || seq < first) continue
    const { at: timestamp_ms, event } = entry
    const { run_id, session_id, agent_id } = projection
    shown.set(seq, () => ({
      timestamp_ms,
      run_id,
      session_id,
      agent_id,
      event: output === undefined ? showEvent(event, projection) : { type: 'output', output },
    }))
  }
  return shown
}

/** The entries of the session from the first of these runs to their last, or to one before it. */
const entriesOf = (
  store: RunStore,
  runs: readonly RunRecord[],
  last = Infinity,
): Iterable<StreamEntry<JournalEntry>> => {
  const [run] = runs
  if (run === undefined) return []
  const end = runs.reduce((latest, one) => Math.max(latest, one.last), 0)
  const first = runs.reduce((earliest, one) => Math.min(earliest, one.first), end)
  return entriesBetween(store, run.session_id, { first, last: Math.min(last, end) })
}

/** A run as its entries so far have made it. */
interface State {
  projection: RunView
  readonly view: ReturnType<typeof outputViewer>
}

const beginnings = (store: RunStore, runs: readonly RunRecord[], caller?: Caller): ReadonlyMap<string, State> => {
  const models = firstModels(store, runs)
  return new Map(
    runs.map((run) => {
      const projection = beginning(run, models.get(run.run_id) ?? run.model)
      return [run.run_id, { projection, view: outputViewer(store, run, { caller }) }]
    }),
  )
}

/** What is true of a run from its acceptance on; the rest comes with its entries. */
const beginning = (run: RunRecord, model: string): RunView => {
  const { run_id, session_id, agent_id, kind, submitted_at_ms, request } = frameOf(run, 0)
  const { approval_count: _, question_count: __, ...asked } = request
  return {
    run_id,
    session_id,
    agent_id,
    kind,
    status: 'queued',
    submitted_at_ms,
    updated_at_ms: submitted_at_ms,
    ...shownMetadata(undefined, run.origin),
    request: { ...asked, model },
  }
}

/** The models that runs with another one began with. */
const firstModels = (store: RunStore, runs: readonly RunRecord[]): ReadonlyMap<string, string> => {
  const models = new Map<string, string>()
  const changed = runs.filter(({ model, fallback_model }) => model === fallback_model)
  const ids = new Set(changed.map(({ run_id }) => run_id))
  for (const { entry } of entriesOf(store, changed)) {
    if (entry.type !== 'fallback' || !ids.delete(entry.run_id)) continue
    models.set(entry.run_id, entry.from)
    if (ids.size === 0) break
  }
  return models
}

const project = (before: RunView, entry: JournalEntry, output: DaemonOutputRecord | undefined): RunView => {
  if (output !== undefined) return { ...before, updated_at_ms: entry.at, outputs: [...(before.outputs ?? []), output] }
  switch (entry.type) {
    case 'event':
      return projectEvent({ ...before, updated_at_ms: entry.at }, entry.at, entry.event)
    case 'fallback':
      return { ...before, updated_at_ms: entry.at, request: { ...before.request, model: entry.to } }
    case 'recovery': {
      if (entry.verdict !== 'requeued') return before
      const { started_at_ms: _, ...rest } = before
      return { ...withoutPending(rest), updated_at_ms: entry.at, status: 'queued' }
    }
    default:
      return before
  }
}

const bothMetadata = (
  metadata: JsonObject | undefined,
  shown: RunView['input_metadata'],
): Pick<RunView, 'input_metadata'> =>
  metadata === undefined && shown === undefined ? {} : { input_metadata: { ...metadata, ...shown } }

const projectEvent = (next: RunView, at: number, event: RunEvent): RunView => {
  const { request } = next
  switch (event.type) {
    case 'accepted':
      return { ...next, ...shownFiles(event), ...bothMetadata(event.metadata, next.input_metadata) }
    case 'queued':
      return { ...next, status: 'queued', queued_position: event.position }
    case 'started': {
      const { queued_position: _, ...rest } = next
      return { ...rest, status: 'running', started_at_ms: next.started_at_ms ?? at }
    }
    case 'waiting_for_approval': {
      const approval_count = (request.approval_count ?? 0) + event.requests.length
      return {
        ...next,
        status: 'waiting_for_approval',
        request: { ...request, approval_count },
        ...approvalsOf(event.requests),
      }
    }
    case 'waiting_for_user_question': {
      const question_count = (request.question_count ?? 0) + event.requests.length
      return {
        ...next,
        status: 'waiting_for_user_question',
        request: { ...request, question_count },
        ...questionsOf(event.requests),
      }
    }
    case 'approval_resolved':
      return resolved(
        next,
        event.resolutions.map(({ request_id }) => request_id),
      )
    case 'user_question_resolved':
      return resolved(next, [event.resolution.request_id])
    case 'output':
    case 'parent_clarification_resolved':
      return next
    default: {
      const { queued_position: _, ...rest } = withoutPending(next)
      const error = 'error' in event ? event.error : undefined
      return { ...rest, status: event.type, finished_at_ms: at, ...(error !== undefined && { error }) }
    }
  }
}

/** What is still asked after some requests were decided; a run that asks nothing goes on. */
const resolved = (view: RunView, ids: readonly string[]): RunView => {
  const left = <T extends { readonly id: string }>(requests: readonly T[] = []): T[] =>
    requests.filter(({ id }) => !ids.includes(id))
  const open = { ...approvalsOf(left(view.pending_approvals)), ...questionsOf(left(view.pending_questions)) }
  return { ...withoutPending(view), ...open, status: Object.keys(open).length > 0 ? view.status : 'running' }
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

/** The run as it was then, as its view would have shown it. */
const shownRun = ({ outputs, ...view }: RunView): RunView =>
  outputs === undefined ? view : { ...view, ...shownOutputs(outputs.toReversed()) }

const showEvent = (event: RunEvent, projection: RunView): RunEventEntry['event'] => {
  switch (event.type) {
    case 'accepted':
    case 'started':
    case 'completed':
    case 'interrupted':
    case 'cancelled':
      return { type: event.type, run: shownRun(projection) }
    case 'queued':
      return { type: 'queued', position: event.position, run: shownRun(projection) }
    case 'output':
      throw fault('an output is shown as one')
    default:
      return event
  }
}

/** The events of a run with its steps between them, oldest first. */
export const runSteps = (store: RunStore, run: RunRecord, caller: Caller): RunEventEntry[] => {
  const events = eventsBySequence(store, [run], { caller })
  const { run_id, session_id, agent_id } = run
  return Array.from(ownEntries(store, run), ({ seq, entry }): RunEventEntry[] => {
    const known = events.get(seq)?.()
    if (known !== undefined) return [known]
    return stepsOf(entry).map((event) => ({ timestamp_ms: entry.at, run_id, session_id, agent_id, event }))
  }).flat()
}
