import { collectionSource, defineRoute, doc, jsonReply, listPage, object, optional, pageFields, pageOf, pageProblems, streamReply, string } from '../../../core/plugin.js'
import type { Ids, Route, State } from '../../../core/plugin.js'
import { SessionId, SessionView, SessionViewSummary, sessionErrors } from './contract.js'
import type { SessionActivity, SessionRecord, Sessions } from './contract.js'

export interface SessionRouteParts {
  readonly sessions: Sessions
  readonly state: State
  readonly ids: Ids
  readonly activity: () => SessionActivity | undefined
}

const CreateSession = object({
  session_id: optional(doc(string({ max: 200 }), 'Chosen by the caller, or made by the daemon.')),
  thread_id: optional(doc(string({ min: 1, max: 200 }), 'The thread of this session at the provider.')),
})
const params = object({ session_id: SessionId })

export const sessionRoutes = (parts: SessionRouteParts): readonly Route[] => [create(parts), list(parts), read(parts), stream(parts)]

const create = ({ sessions, state, ids }: SessionRouteParts): Route => defineRoute({
  id: 'sessions.create',
  method: 'POST',
  path: '/v1/sessions',
  summary: 'Creates a session, or uses the one that has this id; an ended one is opened again.',
  access: 'admin',
  body: CreateSession,
  bodyOptional: true,
  reply: jsonReply(SessionView, 201),
  problems: [sessionErrors.invalid_session_id, sessionErrors.session_conflict],
  durability: 'A',
  example: { body: { session_id: 'first' } },
  handler: async ({ body }) => {
    const session_id = body.session_id ?? ids.make('session')
    checkId(session_id)
    const known = sessions.find(session_id)
    if (known !== undefined) checkReuse(known, body.thread_id)
    if (known === undefined || known.ended_at_ms !== undefined || (body.thread_id !== undefined && known.thread_id === undefined)) {
      await state.commit((tx) => {
        const { ended_at_ms: _, end_reason: __, ...kept } = known ?? { session_id, agent_id: ids.make('agent'), created_at_ms: tx.now }
        tx.put(sessions.collection, { ...kept, ...(body.thread_id !== undefined && { thread_id: body.thread_id }) })
      })
    }
    return sessions.view(sessions.get(session_id))
  },
})

/** An id must be addressable: what a path parameter may not hold, an id may not hold either. */
const checkId = (session_id: string): void => {
  if (session_id.trim() !== '' && session_id !== '.' && session_id !== '..' && !/[/\\\p{Cc}\p{Cs}]/u.test(session_id)) return
  throw sessionErrors.invalid_session_id({ errors: [{ path: 'body.session_id', rule: 'must not be empty, "." or "..", and must hold no slash, backslash or control character' }] })
}

const checkReuse = (known: SessionRecord, thread_id: string | undefined): void => {
  if (thread_id === undefined || known.thread_id === undefined || known.thread_id === thread_id) return
  throw sessionErrors.session_conflict({
    details: { session_id: known.session_id, field: 'thread_id' },
    errors: [{ path: 'body.thread_id', rule: 'must equal the stored one' }],
  })
}

const list = ({ sessions, activity }: SessionRouteParts): Route => defineRoute({
  id: 'sessions.list',
  method: 'GET',
  path: '/v1/sessions',
  summary: 'Lists sessions by id.',
  access: 'read',
  query: object(pageFields),
  reply: jsonReply(pageOf(SessionViewSummary)),
  problems: [...pageProblems],
  handler: ({ query }) => listPage({
    query,
    source: collectionSource(sessions.collection, 'all', 'all'),
    label: 'session_id_asc',
    view: ({ session_id, agent_id }) => {
      const pending = activity()?.pending(session_id)
      return {
        session_id, agent_id, status: activity()?.status(session_id) ?? 'idle',
        pending_approvals: pending?.approvals ?? 0, pending_questions: pending?.questions ?? 0,
      }
    },
  }),
})

const read = ({ sessions }: SessionRouteParts): Route => defineRoute({
  id: 'sessions.get',
  method: 'GET',
  path: '/v1/sessions/:session_id',
  summary: 'Reads a session with its newest outputs.',
  access: 'read',
  params,
  reply: jsonReply(SessionView),
  problems: [sessionErrors.session_not_found],
  handler: (input) => sessions.view(sessions.get(input.params.session_id)),
})

const stream = ({ sessions }: SessionRouteParts): Route => defineRoute({
  id: 'sessions.stream',
  method: 'GET',
  path: '/v1/sessions/:session_id/stream',
  summary: 'Follows the events of one session.',
  access: 'read',
  params,
  query: object({ cursor: optional(doc(string({ max: 100 }), 'Id of the last event seen.')) }),
  reply: streamReply(),
  problems: [sessionErrors.session_not_found],
  handler: (input) => ({ filter: { scope: 'session', id: sessions.get(input.params.session_id).session_id } }),
})
