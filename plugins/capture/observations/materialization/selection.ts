/** Finds what a run is given: observations that are active, of sources that allow it. */
import { timeKey } from '../../../../core/plugin.js'
import { observationErrors } from '../record/errors.js'
import { groupOf, type ObservationRecord, type ObservationStore, type SourceRecord } from '../record/store.js'
import type { ObservationSelection } from './request.js'

export interface Selected {
  readonly observations: readonly ObservationRecord[]
  /** Of the observations, and the one that was asked. */
  readonly sources: readonly SourceRecord[]
  /** Who the run is said to be of. */
  readonly actor_id: string
}

type Latest = Exclude<ObservationSelection, { type: 'observation_ids' }>

const byIds = (store: ObservationStore, ids: readonly string[]): ObservationRecord[] =>
  [...new Set(ids)].map((observation_id) => {
    const record = store.getObservation(observation_id)
    if (record.view.retention_state === 'active') return record
    throw observationErrors.observation_purged({ details: { observation_id } })
  })

const placeOf = (selection: Latest): { readonly index: string; readonly group: string } => {
  switch (selection.type) {
    case 'latest_from_source':
      return { index: 'source', group: groupOf('active', selection.source_id) }
    case 'latest_from_stream':
      return { index: 'stream', group: groupOf('active', selection.source_id, selection.stream_id) }
    default:
      return { index: 'capture_group', group: selection.capture_group_id }
  }
}

/** The newest, in order of capture. */
const newest = (store: ObservationStore, selection: Latest, now: number): ObservationRecord[] => {
  const { lookback_seconds, max_observations } = selection
  const since = lookback_seconds === undefined ? '' : timeKey(Math.max(0, now - lookback_seconds * 1000))
  const some = store.observations.list({
    ...placeOf(selection),
    limit: max_observations,
    order: 'desc',
    skip: store.skip,
  })
  return some.filter(({ view }) => timeKey(view.captured_at_ms) >= since).toReversed()
}

const checkSource = ({ view }: SourceRecord): void => {
  const { source_id, status, allow_materialization } = view
  const reason = status === 'disabled' ? 'it is disabled' : allow_materialization ? undefined : 'it does not allow that'
  if (reason !== undefined) throw observationErrors.materialization_not_allowed({ details: { source_id, reason } })
}

const actorOf = (selection: ObservationSelection): string => {
  switch (selection.type) {
    case 'observation_ids':
      return selection.observation_ids[0] ?? ''
    case 'latest_from_source':
      return selection.source_id
    case 'latest_from_stream':
      return `${selection.source_id}:${selection.stream_id}`
    default:
      return `observation-group:${selection.capture_group_id}`
  }
}

/** Throws where what is asked for is not there, was purged, or is of a source that does not allow it. */
export const select = (store: ObservationStore, selection: ObservationSelection, now: number): Selected => {
  const asked = 'source_id' in selection ? [store.getSource(selection.source_id)] : []
  const observations =
    selection.type === 'observation_ids' ? byIds(store, selection.observation_ids) : newest(store, selection, now)
  const others = observations.map(({ view }) => store.getSource(view.source_id))
  const sources = [...new Map([...asked, ...others].map((source) => [source.view.source_id, source])).values()]
  for (const source of sources) checkSource(source)
  return { observations, sources, actor_id: actorOf(selection).slice(0, 200) }
}
