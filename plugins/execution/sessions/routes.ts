import {
  collectionSource,
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
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { SessionId, SessionView, SessionViewSummary, sessionErrors } from './contract.js'
import { createRoute, type OpenParts } from './create.js'
import { scopeRoutes, type SettingRouteParts } from './setting-routes.js'

export type SessionRouteParts = Omit<OpenParts, 'interception'> & SettingRouteParts & { readonly skip: Skip }

const params = object({ session_id: SessionId })

export const sessionRoutes = (parts: SessionRouteParts): readonly Route[] => [
  createRoute(parts),
  list(parts),
  read(parts),
  ...scopeRoutes(parts),
]

const list = ({ sessions, skip }: SessionRouteParts): Route =>
  defineRoute({
    id: 'sessions.list',
    method: 'GET',
    path: '/v1/sessions',
    summary: 'Lists sessions by id.',
    access: 'read',
    query: object({
      persona_id: optional(
        doc(string({ min: 1, max: 200 }), 'Only sessions that are bound to this persona, in whatever version.'),
      ),
      ...pageFields,
    }),
    reply: jsonReply(pageOf(SessionViewSummary)),
    problems: [...pageProblems],
    handler: ({ query: { persona_id, ...query }, caller }) =>
      listPage({
        query,
        source:
          persona_id === undefined
            ? collectionSource(sessions.collection, 'all', 'all')
            : collectionSource(sessions.collection, 'persona', persona_id),
        label: 'session_id_asc',
        skip,
        view: (session) => sessions.summary(session, caller),
      }),
  })

const read = ({ sessions }: SessionRouteParts): Route =>
  defineRoute({
    id: 'sessions.get',
    method: 'GET',
    path: '/v1/sessions/:session_id',
    summary: 'Reads a session with its newest outputs.',
    access: 'read',
    params,
    reply: jsonReply(SessionView),
    problems: [sessionErrors.session_not_found],
    handler: (input) => sessions.view(sessions.get(input.params.session_id), input.caller),
  })
