/** Steps of runs for people who watch (events-16). */
import {
  boolean,
  defineEvent,
  doc,
  enums,
  integer,
  literal,
  object,
  optional,
  string,
  tagged,
  timestamp,
  type Infer,
  type Tx,
} from '../../../core/plugin.js'
import { actionKinds, actionOutcomes } from '../external-actions/contract.js'

const traceOf = <T extends string, F extends Parameters<typeof object>[0]>(type: T, fields: F) =>
  object({ type: literal(type), ...fields })
/** Kinds of traces (events-16). */
export const TraceKind = tagged('type', {
  model_attempt_started: traceOf('model_attempt_started', { turn: integer(), attempt: integer() }),
  model_attempt_finished: traceOf('model_attempt_finished', { turn: integer(), attempt: integer() }),
  model_retry_scheduled: traceOf('model_retry_scheduled', { turn: integer(), attempt: integer(), reason: string() }),
  tool_started: traceOf('tool_started', { tool_name: string(), call_id: string() }),
  tool_finished: traceOf('tool_finished', { tool_name: string(), call_id: string(), is_error: boolean() }),
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

/** Publishes a step when a commit is durable; without a run it is one of the session. */
export const emitTrace = (
  tx: Tx,
  { session_id, ...of }: { readonly session_id: string; readonly run_id?: string; readonly agent_id?: string },
  kind: TraceData,
): void => {
  const named = {
    ...(of.agent_id !== undefined && { agent_id: of.agent_id }),
    ...(of.run_id !== undefined && { run_id: of.run_id }),
  }
  const keys = { session: session_id, ...(of.run_id !== undefined && { run: of.run_id }) }
  const timestamp_ms = tx.now
  tx.emit(Trace, keys, () => ({ trace: { timestamp_ms, session_id, ...named, kind } }))
}
