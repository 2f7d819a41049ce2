/** What people who watch runs are told: changes, outputs and steps (events-16). */
import {
  boolean,
  defineDeltas,
  defineEvent,
  doc,
  enums,
  integer,
  number,
  literal,
  object,
  optional,
  string,
  tagged,
  timestamp,
  type Infer,
  type Tx,
} from '../../../../core/plugin.js'
import { actionKinds, actionOutcomes, type ActionListener } from '../../external-actions/contract.js'
import { DaemonOutputRecord } from '../../sessions/contract.js'
import { RunView } from './run-view.js'
import type { RunRecord } from '../record/run-record.js'
import type { RunStore } from '../record/store.js'
import type { DeliveryView } from '../../deliveries/contract.js'
import { deliveriesOf, viewRun } from './shown-run.js'

/** The event of a change (events-16). */
export const RunUpdated = defineEvent({
  name: 'run_updated',
  summary: 'A run changed.',
  data: object({ run: RunView }),
})
/** The event of an output (events-16). */
export const OutputMade = defineEvent({
  name: 'output',
  summary: 'A run produced an output.',
  data: object({ output: DaemonOutputRecord }),
})

const traceOf = <T extends string, F extends Parameters<typeof object>[0]>(type: T, fields: F) =>
  object({ type: literal(type), ...fields })
const delta = {
  turn: integer(),
  attempt: integer(),
  text: doc(string(), 'What follows the text of this kind, turn and attempt so far.'),
}
/** Kinds of traces (events-16). Those of deltas are told to clients that ask for them (events-23). */
export const TraceKind = tagged('type', {
  model_attempt_started: traceOf('model_attempt_started', { turn: integer(), attempt: integer() }),
  model_attempt_finished: traceOf('model_attempt_finished', { turn: integer(), attempt: integer() }),
  model_text_delta: traceOf('model_text_delta', delta),
  model_reasoning_delta: traceOf('model_reasoning_delta', delta),
  model_deltas_dropped: traceOf('model_deltas_dropped', {
    count: doc(
      integer(),
      'Deltas of the run that this client was too slow for, or that came before it followed the text.',
    ),
    chars: doc(integer(), 'UTF-16 code units of their text.'),
  }),
  model_retry_scheduled: traceOf('model_retry_scheduled', { turn: integer(), attempt: integer(), reason: string() }),
  prompt_cut: traceOf('prompt_cut', {
    left_out: doc(
      integer(),
      'Messages of the conversation that the model is not shown, since they do not fit; 0 where only older ones are ' +
        'missing, that are not read any more.',
    ),
  }),
  tool_started: traceOf('tool_started', { tool_name: string(), call_id: string() }),
  tool_finished: traceOf('tool_finished', { tool_name: string(), call_id: string(), is_error: boolean() }),
  tool_progress: traceOf('tool_progress', {
    tool_name: string(),
    call_id: string(),
    progress: doc(number(), 'How far the call is, in units of its own.'),
    total: optional(doc(number(), 'Where it ends.')),
    message: optional(doc(string(), 'What the call is doing, in words of the tool.')),
  }),
  external_action: traceOf('external_action', {
    phase: enums(['intent', 'outcome']),
    kind: enums(actionKinds),
    target: string(),
    request_digest: optional(string()),
    response_digest: optional(string()),
    outcome: optional(enums(actionOutcomes)),
  }),
  permission_evaluated: traceOf('permission_evaluated', { tool_name: string(), decision: string() }),
  session_persisted: traceOf('session_persisted', {
    record_type: doc(string(), 'Type of the newest journal entry of a commit that is durable.'),
  }),
  agent_spawned: traceOf('agent_spawned', { agent_id: doc(string(), 'Id of the agent that was started.') }),
  output_dispatched: traceOf('output_dispatched', {
    plugin: doc(string(), 'The reply plugin that took an output to its target.'),
  }),
})
/** The value form of `TraceKind`. */
export type TraceData = Infer<typeof TraceKind>
/** The event of a step (events-16). */
export const Trace = defineEvent({
  name: 'trace',
  summary: 'A step of a run, for people who watch; not kept.',
  data: object({
    trace: object({
      timestamp_ms: timestamp(),
      session_id: doc(string(), 'Id of the session.'),
      agent_id: optional(doc(string(), 'Id of the agent.')),
      run_id: optional(doc(string(), 'Id of the run.')),
      tool_call_id: optional(doc(string(), 'Id of the tool call.')),
      kind: TraceKind,
    }),
  }),
})

/** One call of a model, which says what is shown while it comes. */
export interface SpokenCall {
  readonly session_id: string
  readonly run_id: string
  readonly agent_id: string
  readonly turn: number
  readonly attempt: number
}
type SpokenKind = 'model_text_delta' | 'model_reasoning_delta'
/** What models say, while they say it (events-23). */
export const ModelDeltas = defineDeltas<SpokenCall, SpokenKind, Infer<typeof Trace.data>>({
  include: 'deltas',
  event: Trace,
  data: ({ turn, attempt, ...of }, { kind, text, timestamp_ms }) => ({
    trace: { timestamp_ms, ...of, kind: { type: kind, turn, attempt, text } },
  }),
  lost: ({ session_id, agent_id, run_id }, { count, chars, timestamp_ms }) => ({
    trace: { timestamp_ms, session_id, agent_id, run_id, kind: { type: 'model_deltas_dropped', count, chars } },
  }),
})

/** Publishes a step of a run when a commit is durable. */
export const emitTrace = (
  tx: Tx,
  { session_id, run_id, agent_id }: Pick<RunRecord, 'session_id' | 'run_id' | 'agent_id'>,
  kind: TraceData,
): void => {
  const timestamp_ms = tx.now
  tx.emit(Trace, { session: session_id, run: run_id }, () => ({
    trace: { timestamp_ms, session_id, agent_id, run_id, kind },
  }))
}

/** The same of a step that is of the session. */
export const emitSessionTrace = (tx: Tx, session_id: string, kind: TraceData): void => {
  const timestamp_ms = tx.now
  tx.emit(Trace, { session: session_id }, () => ({ trace: { timestamp_ms, session_id, kind } }))
}

/** Shows what a run does outside as the ledger enters it. */
export const traceActions = ({ runs }: RunStore): ActionListener => ({
  id: 'runs',
  entered(tx, { run_id, session_id, tool_call_id, ...action }) {
    const agent_id = runs.find(run_id)?.agent_id
    if (agent_id === undefined) return
    const trace = {
      timestamp_ms: tx.now,
      session_id,
      agent_id,
      run_id,
      ...(tool_call_id !== undefined && { tool_call_id }),
      kind: { type: 'external_action' as const, ...action },
    }
    tx.emit(Trace, { session: session_id, run: run_id }, () => ({ trace }))
  },
})

/** Shows each run of which deliveries have come to their end. */
export const announceDeliveries =
  (store: RunStore) =>
  (tx: Tx, settled: readonly DeliveryView[]): void => {
    for (const run_id of new Set(settled.flatMap((one) => one.run_id ?? []))) {
      const run = store.runs.find(run_id)
      if (run === undefined) continue
      for (const { run_id: of, status, plugin } of settled)
        if (of === run_id && status === 'delivered') emitTrace(tx, run, { type: 'output_dispatched', plugin })
      const deliveries = deliveriesOf(store, run)
      tx.emit(RunUpdated, { session: run.session_id, run: run_id }, () => ({
        run: viewRun(store, run, { deliveries }),
      }))
    }
  }
