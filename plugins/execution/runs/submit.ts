/** Accepting a run: checked, pinned to a route, and durable before anyone is told. */
import type { JsonObject } from '../../../core/plugin.js'
import type { RunRecord, RunView, Submission, SubmitInputRequest } from './contract.js'
import { editRun } from './edit.js'
import type { RunEdit } from './edit.js'
import { runErrors } from './errors.js'
import type { Desk } from './executor.js'
import type { EngineParts } from './parts.js'
import { claim, replayed } from './receipts.js'
import { activeLane, queuedLane } from './store.js'
import { viewRun } from './views.js'

/** A submission that led to a run; `seen` is how the commit saw it. A repeated one has none. */
export interface Submitted { readonly run: RunRecord; readonly seen?: RunView }

/** Accepts a run, and starts it if its session and the daemon are free. The answer is durable. */
export const submitRun = async ({ parts, executor }: Desk, submission: Submission): Promise<Submitted> => {
  const { session_id, input, receipt } = submission
  const session = parts.sessions.get(session_id)
  const known = replayed(parts.store, receipt)
  if (known !== undefined) return { run: known }
  if (session.ended_at_ms !== undefined) throw runErrors.session_ended({ details: { session_id } })
  const text = textOf(input)
  checkMetadata(input)
  const route = parts.models.ready(input.provider)
  const { busy, queued } = laneOf(parts, session_id)
  if (submission.alone === true && busy) throw runErrors.session_busy({ details: { session_id } })
  if (queued >= parts.config.max_queued_runs) throw runErrors.run_queue_full({ details: { session_id, limit: parts.config.max_queued_runs } })
  const starts = !busy && executor.free()
  const submitted = await parts.store.state.commit((tx) => {
    const edit = editRun(parts, tx, recordOf(parts, submission, { text, now: tx.now, agent_id: session.agent_id, provider: route.route_id, model: input.generation?.model ?? route.model }))
    accept(edit, input, { text, position: queued + 1 })
    if (starts) edit.step({ to: 'running' }, { type: 'started' })
    claim(parts.store, tx, { receipt, run_id: edit.run.run_id })
    const run = edit.save()
    return { run, seen: viewRun(parts.store, run) }
  })
  if (starts) executor.launch(submitted.run.run_id)
  else executor.offer(session_id)
  return submitted
}

const laneOf = ({ store }: EngineParts, session_id: string): { busy: boolean; queued: number } => {
  const queued = store.runs.count('lane', queuedLane(session_id))
  return { queued, busy: queued > 0 || store.runs.count('lane', activeLane(session_id)) > 0 }
}

const textOf = (input: SubmitInputRequest): string => {
  if (input.input_items !== undefined && input.content !== '') throw runErrors.run_input_conflict({ errors: [{ path: 'body.input_items', rule: 'cannot be combined with content' }] })
  const text = input.input_items === undefined ? input.content : input.input_items.map((item) => item.text).join('\n')
  if (text.trim() === '') throw runErrors.run_input_missing({ errors: [{ path: 'body.content', rule: 'must carry input' }] })
  return text
}

const checkMetadata = ({ metadata }: SubmitInputRequest): void => {
  if (metadata === undefined || !Object.hasOwn(metadata, 'service_flow')) return
  throw runErrors.reserved_metadata_key({ details: { key: 'service_flow' }, errors: [{ path: 'body.metadata.service_flow', rule: 'belongs to the daemon' }] })
}

const accept = (edit: RunEdit, input: SubmitInputRequest, { text, position }: { text: string; position: number }): void => {
  edit.event({
    type: 'accepted', content: text,
    ...(input.metadata !== undefined && { metadata: input.metadata }),
    ...(input.generation !== undefined && { generation: withoutGaps(input.generation) }),
  })
  edit.enqueue(position)
}

const withoutGaps = (generation: NonNullable<SubmitInputRequest['generation']>): JsonObject => {
  const { model, tool_choice, allow_parallel_tool_calls, max_output_tokens, temperature } = generation
  return {
    ...(model !== undefined && { model }),
    ...(tool_choice !== undefined && { tool_choice }),
    ...(allow_parallel_tool_calls !== undefined && { allow_parallel_tool_calls }),
    ...(max_output_tokens !== undefined && { max_output_tokens }),
    ...(temperature !== undefined && { temperature }),
  }
}

interface Pinned { readonly text: string; readonly now: number; readonly agent_id: string; readonly provider: string; readonly model: string }

const recordOf = (parts: EngineParts, { session_id, input, kind }: Submission, { text, now, agent_id, provider, model }: Pinned): RunRecord => ({
  run_id: parts.ids.make('run'),
  session_id,
  agent_id,
  kind: kind ?? 'input',
  status: 'queued',
  submitted_at_ms: now,
  updated_at_ms: now,
  source_plugin: input.source_plugin ?? 'http',
  source_kind: input.source_kind ?? 'api',
  actor_id: input.actor_id ?? 'operator',
  text_preview: preview(text),
  provider,
  model,
  first: parts.store.journal.length(session_id) + 1,
  last: 0,
  owner: parts.store.state.health.generation,
})

const previewLength = 200
/** The beginning of a text, cut between code points. */
const preview = (text: string): string => (text.length <= previewLength ? text : Array.from(text.slice(0, previewLength * 2)).slice(0, previewLength).join(''))
