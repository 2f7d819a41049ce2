/** Sources and the audit, for operators. */
import {
  array,
  clampLimit,
  defineRoute,
  doc,
  enums,
  filteredSource,
  holdsText,
  integer,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  searchText,
  string,
  type Ids,
  type Route,
} from '../../../../core/plugin.js'
import { observationErrors } from '../record/errors.js'
import type { Audit } from '../record/audit.js'
import { sourceList, type ObservationStore, type SourceRecord } from '../record/store.js'
import { auditEvents, ObservationAuditRecord, ObservationSourceView, SourceId } from '../record/structs.js'
import type { SourceChanges } from './change.js'
import { RotateRequest, SourceCreateRequest } from './draft.js'
import { sanitisedReason } from './reason.js'

export interface SourceRouteParts {
  readonly store: ObservationStore
  readonly changes: SourceChanges
  readonly audit: Audit
  readonly ids: Ids
  readonly redact: (text: string) => string
  /** What a change of its limits leaves to be purged is purged. */
  readonly settle: (source_id: string) => Promise<void>
}

const params = object({ source_id: SourceId })
const example = { source_id: 'door-camera', display_name: 'Door', kind: 'webcam_snapshot', upload_token: 'one-of-many' }

export const sourceRoutes = (parts: SourceRouteParts): readonly Route[] => [
  list(parts),
  create(parts),
  read(parts),
  rotate(parts),
  revoke(parts),
  audit(parts),
]

const list = ({ store }: SourceRouteParts): Route =>
  defineRoute({
    id: 'observation_sources.list',
    method: 'GET',
    path: '/v1/observation-sources',
    summary: 'Lists what machines may send observations as, by id.',
    access: 'read',
    query: object({
      query: optional(doc(string({ max: 200 }), 'Only those whose id or display name holds this text.')),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(ObservationSourceView)),
    problems: [...pageProblems],
    handler: async ({ query: { query, ...page } }) => {
      const [text, all] = [searchText(query), sourceList(store)]
      const holds = ({ view }: SourceRecord) => holdsText(text, [view.source_id, view.display_name])
      return listPage({
        query: page,
        source: text === '' ? all : await filteredSource(all, holds, store.skip),
        label: 'source_id_asc',
        view: ({ view }) => view,
        skip: store.skip,
      })
    },
  })

const create = ({ store, changes, ids, settle }: SourceRouteParts): Route =>
  defineRoute({
    id: 'observation_sources.create',
    method: 'POST',
    path: '/v1/observation-sources',
    summary: 'Creates a source, or gives one that is there other settings; another token is the next version at once.',
    access: 'admin',
    body: SourceCreateRequest,
    reply: jsonReply(ObservationSourceView),
    problems: [
      observationErrors.observation_source_kind_conflict,
      observationErrors.capture_source_managed_by_agent,
      observationErrors.upload_token_revoked,
    ],
    durability: 'A',
    example: { body: example },
    handler: async ({ body }) => {
      const source_id = body.source_id ?? ids.make('source')
      await store.state.commit((tx) => changes.put(tx, { ...body, source_id }))
      await settle(source_id)
      return store.getSource(source_id).view
    },
  })

const read = ({ store }: SourceRouteParts): Route =>
  defineRoute({
    id: 'observation_sources.get',
    method: 'GET',
    path: '/v1/observation-sources/:source_id',
    summary: 'Reads a source.',
    access: 'read',
    params,
    reply: jsonReply(ObservationSourceView),
    problems: [observationErrors.observation_source_not_found],
    handler: ({ params: { source_id } }) => store.getSource(source_id).view,
  })

const changeProblems = [
  observationErrors.observation_source_not_found,
  observationErrors.capture_source_managed_by_agent,
]

const rotate = ({ store, changes }: SourceRouteParts): Route =>
  defineRoute({
    id: 'observation_sources.rotate_token',
    method: 'POST',
    path: '/v1/observation-sources/:source_id/rotate-token',
    summary: 'Gives a source another token; for a while the one before opens it too, if that is wished.',
    access: 'admin',
    params,
    body: RotateRequest,
    reply: jsonReply(ObservationSourceView),
    problems: [...changeProblems, observationErrors.upload_token_revoked],
    durability: 'A',
    example: { body: { upload_token: 'another-one', grace_period_ms: 60_000 } },
    handler: ({ params: { source_id }, body }) => store.state.commit((tx) => changes.rotate(tx, source_id, body).view),
  })

const revoke = ({ store, changes, redact }: SourceRouteParts): Route =>
  defineRoute({
    id: 'observation_sources.revoke_token',
    method: 'POST',
    path: '/v1/observation-sources/:source_id/revoke-token',
    summary: 'Takes all tokens of a source away; what it has sent stays.',
    access: 'admin',
    params,
    body: object({ reason: optional(doc(string({ max: 512 }), 'Kept in the audit if it is short and no secret.')) }),
    bodyOptional: true,
    reply: jsonReply(ObservationSourceView),
    problems: changeProblems,
    durability: 'A',
    example: { body: { reason: 'The machine is gone.' } },
    handler: ({ params: { source_id }, body: { reason } }) =>
      store.state.commit((tx) => changes.revoke(tx, source_id, sanitisedReason(reason, redact)).view),
  })

const mostEvents = 1000
const audit = (parts: SourceRouteParts): Route =>
  defineRoute({
    id: 'observation_audit.list',
    method: 'GET',
    path: '/v1/observation-audit',
    summary: 'What happened to sources, uploads and capture agents, newest first.',
    access: 'read',
    query: object({
      source_id: optional(doc(string({ max: 200 }), 'Of events of agents the id of the machine.')),
      event: optional(enums(auditEvents)),
      limit: optional(
        doc(integer(), `Most events, 1 to ${mostEvents}; larger values mean ${mostEvents}. 100 when absent.`),
      ),
    }),
    reply: jsonReply(array(ObservationAuditRecord)),
    problems: [...pageProblems],
    handler: ({ query: { limit = 100, ...query } }) =>
      parts.audit.list({ ...query, limit: clampLimit(limit, mostEvents) }),
  })
