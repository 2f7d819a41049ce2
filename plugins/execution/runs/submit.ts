/** Accepting a run: checked, pinned to a route, and durable before anyone is told. */
import type { ReplyHandle } from '../deliveries/contract.js'
import { Problem, type JsonObject } from '../../../core/plugin.js'
import type { RunRecord, RunView, Submission, SubmitInputRequest } from './contract.js'
import { bind, bindingKeys } from './bindings.js'
import { checkRequirements } from './completion-checks.js'
import { editRun, type RunEdit } from './edit.js'
import { runErrors } from './errors.js'
import type { Desk } from './executor.js'
import { inputText } from './input-text.js'
import { checkMetadata } from './origin.js'
import type { EngineParts } from './parts.js'
import { claim, replayed } from './receipts.js'
import { replyTargets } from './reply.js'
import { chooseRoute, type RouteChoice } from './route-choice.js'
import { activeLane, queuedLane } from './store.js'
import { viewRun } from './views.js'

/** A submission that led to a run; `seen` is how the commit saw it. A repeated one has none. */
export interface Submitted {
  readonly run: RunRecord
  readonly seen?: RunView
}

/** Accepts a run, and starts it if its session and the daemon are free. The answer is durable. */
export const submitRun = async (desk: Desk, submission: Submission): Promise<Submitted> => {
  const {
    session_id,
    input: { completion_requirements: requirements },
    receipt,
  } = submission
  if (requirements !== undefined && requirements.length > 0) {
    desk.parts.sessions.get(session_id)
    // A repeated submission is answered by its receipt, whatever the workspace is like by now.
    if (replayed(desk.parts.store, receipt) === undefined) await checkRequirements(desk.parts.checks, requirements)
  }
  return acceptRun(desk, submission)
}

/** Synchronous up to its commit, so that of two equal submissions the second sees the receipt of the first. */
const acceptRun = async ({ parts, executor }: Desk, submission: Submission): Promise<Submitted> => {
  const { session_id, input, receipt } = submission
  const session = parts.sessions.get(session_id)
  const known = replayed(parts.store, receipt)
  if (known !== undefined) return { run: known }
  if (session.ended_at_ms !== undefined) throw runErrors.session_ended({ details: { session_id } })
  const text = inputText(input)
  checkMetadata(parts.reserved(), input.metadata)
  const route = chooseRoute(parts, session, input)
  const reply_targets = replyTargets(parts.store.outbox, input)
  const keys = input.binding_keys === undefined ? undefined : bindingKeys(input.binding_keys)
  const { busy, queued } = laneOf(parts, session_id)
  if (submission.alone === true && busy) throw runErrors.session_busy({ details: { session_id } })
  if (queued >= parts.config.max_queued_runs)
    throw runErrors.run_queue_full({ details: { session_id, limit: parts.config.max_queued_runs } })
  const starts = !busy && executor.free()
  const submitted = await parts.store.state.commit((tx) => {
    const edit = editRun(
      parts,
      tx,
      recordOf(parts, submission, { text, now: tx.now, agent_id: session.agent_id, route, reply_targets }),
    )
    accept(edit, input, { text, position: queued + 1, generation: route.generation })
    if (keys !== undefined) bind(parts.store, tx, { keys, session_id })
    if (starts) edit.step({ to: 'running' }, { type: 'started' })
    claim(parts.store, tx, { receipt, run_id: edit.run.run_id })
    const run = edit.save()
    return { run, seen: viewRun(parts.store, run) }
  })
  if (starts) executor.launch(submitted.run.run_id)
  else executor.offer(session_id)
  return submitted
}

/** What can never be accepted. A route that is not ready now may be later. */
export const checkSubmission = (
  { models, store: { outbox }, sessions, reserved }: EngineParts,
  { session_id, input }: Pick<Submission, 'session_id' | 'input'>,
): void => {
  inputText(input)
  checkMetadata(reserved(), input.metadata)
  replyTargets(outbox, input)
  if (input.binding_keys !== undefined) bindingKeys(input.binding_keys)
  try {
    chooseRoute({ models, sessions }, sessions.get(session_id), input)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'route_not_ready') throw error
  }
}

const laneOf = ({ store }: EngineParts, session_id: string): { busy: boolean; queued: number } => {
  const queued = store.runs.count('lane', queuedLane(session_id))
  return { queued, busy: queued > 0 || store.runs.count('lane', activeLane(session_id)) > 0 }
}

interface Accepted {
  readonly text: string
  readonly position: number
  readonly generation: JsonObject | undefined
}

const accept = (edit: RunEdit, { metadata }: SubmitInputRequest, { text, position, generation }: Accepted): void => {
  edit.event({
    type: 'accepted',
    content: text,
    ...(metadata !== undefined && { metadata }),
    ...(generation !== undefined && { generation }),
  })
  edit.enqueue(position)
}

interface Pinned {
  readonly text: string
  readonly now: number
  readonly agent_id: string
  readonly route: RouteChoice
  readonly reply_targets: readonly ReplyHandle[] | undefined
}

const recordOf = (
  parts: EngineParts,
  { session_id, input, kind, origin, retry_of }: Submission,
  { text, now, agent_id, route: { provider, model, fallback_model }, reply_targets }: Pinned,
): RunRecord => ({
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
  ...(input.completion_requirements !== undefined &&
    input.completion_requirements.length > 0 && {
      completion: { requirements: input.completion_requirements, reminders: 0 },
    }),
  ...(fallback_model !== undefined && { fallback_model }),
  ...(origin !== undefined && { origin }),
  ...(reply_targets !== undefined && { reply_targets }),
  ...(retry_of !== undefined && { retry_of }),
})

const previewLength = 200
/** The beginning of a text, cut between code points. */
const preview = (text: string): string =>
  text.length <= previewLength
    ? text
    : Array.from(text.slice(0, previewLength * 2))
        .slice(0, previewLength)
        .join('')
