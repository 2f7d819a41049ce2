/** A new run of one that ended without completing: the same input, settings and targets, in the same session. */
import { parse, type JsonObject } from '../../../../core/plugin.js'
import { GenerationSettings } from '../../models/contract.js'
import type { RunOrigin } from '../record/origin.js'
import type { RunRecord } from '../record/run-record.js'
import type { Submission, SubmitInputRequest } from './input.js'
import type { RunEvent } from '../../sessions/contract.js'
import type { RunContext } from '../lifecycle/run-engine.js'
import { runErrors } from '../record/errors.js'
import { isTerminal } from '../record/machine.js'
import { entryAt } from '../record/store.js'

type Accepted = Extract<RunEvent, { type: 'accepted' }>

const acceptedOf = ({ store }: RunContext, run: RunRecord): Accepted | undefined => {
  const entry = entryAt(store, run.session_id, run.first)
  return entry?.type === 'event' && entry.event.type === 'accepted' ? entry.event : undefined
}

/** Names of models mean something on the route that they were chosen for only. */
const generationFor = (stored: JsonObject | undefined, sameRoute: boolean): SubmitInputRequest['generation'] => {
  const parsed = parse(GenerationSettings, stored ?? {})
  if (!parsed.ok || stored === undefined) return undefined
  const { model, fallback_model, ...rest } = parsed.value
  return sameRoute
    ? { ...rest, ...(model !== undefined && { model }), ...(fallback_model !== undefined && { fallback_model }) }
    : rest
}

/** A flow has the run that it was started with: what repeats this one is none of it (flows-3). */
const repeatedOrigin = ({ service_flow: flow, ...origin }: RunOrigin): RunOrigin | undefined =>
  flow !== undefined && Object.keys(origin).length === 0 ? undefined : origin

/**
 * What a retry of this run submits. Another route than the run's own is taken if it is named, or if the daemon no
 * longer has the run's. Throws `run_not_retryable` for a run that is open or completed.
 */
export const retryOf = (context: RunContext, run: RunRecord, wanted: string | undefined): Submission => {
  const { run_id, session_id, status, max_turns } = run
  const accepted = acceptedOf(context, run)
  if (!isTerminal(run) || run.status === 'completed' || accepted === undefined)
    throw runErrors.run_not_retryable({ details: { run_id, status, session_id } })
  const { content, files, metadata, generation: stored } = accepted
  const provider = wanted ?? (context.models.find(run.provider) === undefined ? undefined : run.provider)
  const generation = generationFor(stored, provider === run.provider)
  const input: SubmitInputRequest = {
    content,
    source_plugin: run.source_plugin,
    source_kind: run.source_kind,
    actor_id: run.actor_id,
    ...(provider !== undefined && { provider }),
    ...(metadata !== undefined && { metadata }),
    ...(generation !== undefined && { generation }),
    ...(run.completion !== undefined && { completion_requirements: [...run.completion.requirements] }),
    ...(run.isolation !== undefined && { isolation: run.isolation }),
    ...(run.reply_targets !== undefined && { reply_targets: [...run.reply_targets] }),
  }
  const origin = run.origin === undefined ? undefined : repeatedOrigin(run.origin)
  return {
    session_id,
    input,
    retry_of: run_id,
    ...(run.reply_targets?.length === 0 && { targets: 'none' }),
    ...(origin !== undefined && { origin }),
    ...(files !== undefined && { files }),
    ...(max_turns !== undefined && { max_turns }),
  }
}
