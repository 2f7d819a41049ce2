import {
  boolean,
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
  streamReply,
  string,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import {
  SessionId,
  SessionInterrupted,
  SessionSnapshotTaken,
  SessionStateChanged,
  SessionView,
  SessionViewSummary,
  sessionErrors,
} from './contract.js'
import { createRoute, type CreateParts } from './create.js'
import { scopeRoutes, type SettingRouteParts } from './setting-routes.js'
import { shownSettings } from './views.js'

export type SessionRouteParts = CreateParts & SettingRouteParts & { readonly skip: Skip }

const params = object({ session_id: SessionId })

export const sessionRoutes = (parts: SessionRouteParts): readonly Route[] => [
  createRoute(parts),
  list(parts),
  read(parts),
  stream(parts),
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
        view: (session) => {
          const { session_id, agent_id } = session
          return { session_id, agent_id, ...sessions.state(session), ...shownSettings(session, caller) }
        },
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

const stream = ({ sessions }: SessionRouteParts): Route =>
  defineRoute({
    id: 'sessions.stream',
    method: 'GET',
    path: '/v1/sessions/:session_id/stream',
    summary: 'Follows the events of one session.',
    access: 'read',
    params,
    query: object({
      run_id: optional(doc(string({ min: 1, max: 200 }), 'Only events of this run of the session.')),
      snapshot: optional(doc(boolean(), 'Begins with a frame session_snapshot: the session as it is now.')),
      cursor: optional(doc(string({ max: 100 }), 'Id of the last event seen.')),
    }),
    reply: streamReply(SessionStateChanged, SessionSnapshotTaken, SessionInterrupted),
    problems: [sessionErrors.session_not_found],
    handler: ({ params: { session_id }, query: { run_id, snapshot }, caller }) => {
      const session = sessions.get(session_id)
      const own = { scope: 'session', id: session_id }
      return {
        filter: run_id === undefined ? own : { scope: 'run', id: run_id, within: own },
        ...(snapshot === true && {
          first: {
            name: SessionSnapshotTaken.name,
            data: { session_id, snapshot: sessions.view(session, caller).snapshot },
          },
        }),
      }
    },
  })
