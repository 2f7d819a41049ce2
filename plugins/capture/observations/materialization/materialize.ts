/** Makes a run that is given observations. */
import type { Clock, Ids } from '../../../../core/plugin.js'
import {
  inputItems,
  placedBy,
  runErrors,
  type ReceiptKey,
  type RunKind,
  type RunOrigin,
  type RunRecord,
  type Runs,
  type Submission,
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
const checkRequest = ({ content, input_items: items = [], attachments = [] }: SubmitInputRequest): void => {
  const isSaid = content.trim() !== ''
  if (items.length > 0 && (isSaid || attachments.length > 0))
    throw runErrors.run_input_conflict({
      errors: [{ path: 'body.request.input_items', rule: 'cannot be combined with content or attachments' }],
    })
  if (!isSaid && items.length === 0 && attachments.length === 0)
    throw runErrors.run_input_missing({ errors: [{ path: 'body.request.content', rule: 'must carry input' }] })
}

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

/** Where the caller has what the submission has at a path: its items stand behind those that tell of observations. */
const placeIn =
  (own: ReturnType<typeof inputItems>, told: number) =>
  (path: string): string => {
    const [, at, rest = ''] = /^body\.input_items\.(\d+)(.*)$/u.exec(path) ?? []
    if (at === undefined) return belowRequest(path)
    const item = own[Number(at) - told]
    return item === undefined ? 'body.selection' : belowRequest(item.path + rest)
  }
const belowRequest = (path: string): string => path.replace(/^body\./u, 'body.request.')

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
  const own = inputItems(wish.request)
  const mayLeave = selected.sources.every(({ view }) => view.allow_output_delivery)
  const request: SubmitInputRequest = { ...rest, content: '', input_items: [...told, ...own.map(({ item }) => item)] }
  const submission: Submission = {
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
  }
  return runs.submit(submission).catch((error: unknown) => {
    throw placedBy(error, placeIn(own, told.length))
  })
}
