/** Makes a run that is given observations. */
import type { Clock, Ids, JsonObject } from '../../../../core/plugin.js'
import {
  runErrors,
  type InputItem,
  type ReceiptKey,
  type RunKind,
  type RunOrigin,
  type RunRecord,
  type Runs,
  type SubmitInputRequest,
} from '../../../execution/runs/contract.js'
import type { Assets } from '../../../media/assets/contract.js'
import { observationErrors } from '../record/errors.js'
import type { ObservationStore } from '../record/store.js'
import type { Retention } from '../retention/retention.js'
import { policyOf, type MaterializationRequest } from './request.js'
import { select, type Selected } from './selection.js'
import { toldOf } from './told.js'

export interface MaterializationParts {
  readonly store: ObservationStore
  readonly runs: Runs
  readonly assets: Assets
  readonly retention: Pick<Retention, 'upToNow'>
  readonly clock: Clock
  readonly ids: Ids
}

/** What makes it, and the fire that it is of. */
export interface Occasion {
  readonly kind: Extract<RunKind, 'observation_materialization' | 'scheduled_observation_materialization'>
  readonly receipt?: ReceiptKey
}

/** Throws for a request in two forms, and for one that says nothing. */
export const checkRequest = ({ content, input_items: items = [], attachments = [] }: SubmitInputRequest): void => {
  const isSaid = content.trim() !== ''
  if (items.length > 0 && (isSaid || attachments.length > 0))
    throw runErrors.run_input_conflict({
      errors: [{ path: 'body.request.input_items', rule: 'cannot be combined with content or attachments' }],
    })
  if (!isSaid && items.length === 0 && attachments.length === 0)
    throw runErrors.run_input_missing({ errors: [{ path: 'body.request.content', rule: 'must carry input' }] })
}

const ownItems = ({ content, input_items = [], attachments = [] }: SubmitInputRequest): InputItem[] => [
  ...(content.trim() === '' ? [] : [{ type: 'text' as const, text: content }]),
  ...input_items,
  ...attachments.map((file) => ({ type: 'inline_asset' as const, ...file })),
]

/** Outputs of what must not leave stay with the daemon, whatever the request or the session say. */
const withinDaemon = (request: SubmitInputRequest, session_id: string): SubmitInputRequest => {
  const { reply_plugin: _plugin, reply_address: _address, ...rest } = request
  return { ...rest, reply_targets: [{ plugin: 'daemon', address: session_id }] }
}

const distinct = (texts: readonly (string | undefined)[]): string[] => [
  ...new Set(texts.filter((text) => text !== undefined)),
]

const originOf = (
  { selection }: MaterializationRequest,
  { observations, sources }: Selected,
  materialization_run_id: string,
): RunOrigin => {
  const views = observations.map(({ view }) => view)
  const source_ids = sources.map(({ view }) => view.source_id)
  const [first, second] = source_ids
  return {
    materialization_run_id,
    ...(first !== undefined && second === undefined && { observation_source_id: first }),
    observation_source_ids: source_ids,
    observation_source_sensitivity: sources.some(({ view }) => view.sensitivity === 'sensitive')
      ? 'sensitive'
      : 'standard',
    observation_allows_output_delivery: sources.every(({ view }) => view.allow_output_delivery),
    ...(selection.type === 'observation_group' && { observation_group_id: selection.capture_group_id }),
    observation_stream_ids: distinct(views.map(({ stream_id }) => stream_id)),
    observation_ids: views.map(({ observation_id }) => observation_id),
    observation_asset_ids: distinct(views.flatMap((view) => [view.asset_id, view.canonical_text_asset_id])),
  }
}

/**
 * Rejects with the problems of selecting and of submitting, and `materialization_empty`. A receipt that is known gives
 * its run, whatever is there by now.
 */
export const materialize = async (
  { store, runs, assets, retention, clock, ids }: MaterializationParts,
  wish: MaterializationRequest,
  { kind, receipt }: Occasion,
): Promise<RunRecord> => {
  const known = runs.replayed(receipt)
  if (known !== undefined) return known
  checkRequest(wish.request)
  await retention.upToNow()
  const selected = select(store, wish.selection, clock.now())
  if (selected.observations.length === 0 && wish.fail_when_empty) throw observationErrors.materialization_empty()
  const told = await toldOf(assets, selected.observations, policyOf(wish))
  const { content: _content, input_items: _items, attachments: _attachments, ...rest } = wish.request
  const session_id = wish.target_session_id
  const mayLeave = selected.sources.every(({ view }) => view.allow_output_delivery)
  const request: SubmitInputRequest = { ...rest, content: '', input_items: [...told, ...ownItems(wish.request)] }
  return runs.submit({
    session_id,
    kind,
    input: {
      ...(mayLeave ? request : withinDaemon(request, session_id)),
      source_plugin: 'daemon',
      source_kind: kind,
      actor_id: selected.actor_id,
    },
    origin: originOf(wish, selected, ids.make('materialization')),
    ...(receipt !== undefined && { receipt }),
  })
}

/** A request as it may be kept for later. Throws for one that can never work. */
export const checkWish = (runs: Runs, wish: MaterializationRequest): JsonObject => {
  checkRequest(wish.request)
  const { content, input_items, attachments, ...rest } = wish.request
  const kept = runs.check({ session_id: wish.target_session_id, input: { ...rest, content: 'x' } })
  return {
    ...wish,
    request: {
      ...kept,
      content,
      ...(input_items !== undefined && { input_items }),
      ...(attachments !== undefined && { attachments }),
    },
  }
}
