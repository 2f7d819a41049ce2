/** Observations, for operators. */
import {
  boolean,
  defineRoute,
  doc,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  timestamp,
  type Route,
} from '../../../core/plugin.js'
import { observationErrors } from './record/errors.js'
import { observationList } from './record/observation-list.js'
import type { ObservationStore } from './record/store.js'
import { ObservationView, SourceId, StreamId } from './record/structs.js'
import type { Retention } from './retention/retention.js'

export interface ObservationRouteParts {
  readonly store: ObservationStore
  readonly retention: Pick<Retention, 'upToNow'>
}

export const observationRoutes = (parts: ObservationRouteParts): readonly Route[] => [list(parts), read(parts)]

const ListQuery = object({
  source_id: optional(SourceId),
  stream_id: optional(doc(StreamId, 'Of the source that source_id names.')),
  after_ms: optional(doc(timestamp(), 'Captured at this time or later.')),
  before_ms: optional(doc(timestamp(), 'Captured at this time or earlier.')),
  include_purged: optional(boolean()),
  ...pageFields,
})

const list = ({ store, retention }: ObservationRouteParts): Route =>
  defineRoute({
    id: 'observations.list',
    method: 'GET',
    path: '/v1/observations',
    summary: 'Lists what sources have sent, in order of capture; what was purged only if that is wished.',
    access: 'read',
    query: ListQuery,
    reply: jsonReply(pageOf(ObservationView)),
    problems: [...pageProblems, observationErrors.stream_without_source],
    handler: async ({ query: { page, cursor, limit, ...wish } }) => {
      if (wish.stream_id !== undefined && wish.source_id === undefined)
        throw observationErrors.stream_without_source({
          errors: [{ path: 'query.stream_id', rule: 'must come with source_id' }],
        })
      await retention.upToNow()
      return listPage({
        query: { page, cursor, limit },
        source: observationList(store, wish),
        label: 'captured_at_ms_asc',
        view: ({ view }) => view,
        skip: store.skip,
      })
    },
  })

const read = ({ store, retention }: ObservationRouteParts): Route =>
  defineRoute({
    id: 'observations.get',
    method: 'GET',
    path: '/v1/observations/:observation_id',
    summary: 'Reads an observation, purged or not.',
    access: 'read',
    params: object({ observation_id: string({ min: 1, max: 200 }) }),
    reply: jsonReply(ObservationView),
    problems: [observationErrors.observation_not_found],
    handler: async ({ params: { observation_id } }) => {
      await retention.upToNow()
      return store.getObservation(observation_id).view
    },
  })
