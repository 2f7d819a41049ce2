/** Event streams: what they name must be there before they begin (events-2). */
import {
  boolean,
  defineRoute,
  doc,
  enums,
  object,
  optional,
  streamReply,
  string,
  type Route,
} from '../../../core/plugin.js'
import {
  SessionId,
  SessionInterrupted,
  SessionSnapshotTaken,
  SessionStateChanged,
  sessionErrors,
} from '../sessions/contract.js'
import { ModelDeltas, noRun, OutputMade, RunUpdated, Trace } from './contract.js'
import type { RouteContext } from './routes.js'

const id = () => string({ min: 1, max: 200 })
const include = {
  include: optional(
    doc(
      enums([ModelDeltas.include]),
      '`deltas`: also what models say while they say it, in frames without an id that never come again.',
    ),
  ),
}
const included = ({ include: word }: { readonly include?: string | undefined }) =>
  word === undefined ? {} : { include: [word] }
const cursor = { cursor: optional(doc(string({ max: 100 }), 'Id of the last event seen.')) }

export const streamRoutes = (all: RouteContext): readonly Route[] => [ofRun(all), ofSession(all), ofAll(all)]

const sessionScope = ({ context: { sessions } }: RouteContext, session_id: string) => ({
  scope: 'session',
  id: sessions.get(session_id).session_id,
})

const runScope = (all: RouteContext, run_id: string, session_id?: string) => {
  const own = { scope: 'run', id: all.runs.get(run_id).run_id }
  return session_id === undefined ? own : { ...own, within: sessionScope(all, session_id) }
}

const ofRun = (all: RouteContext): Route =>
  defineRoute({
    id: 'runs.stream',
    method: 'GET',
    path: '/v1/runs/:run_id/stream',
    summary: 'Follows the events of one run.',
    access: 'read',
    params: object({ run_id: id() }),
    query: object({ ...include, ...cursor }),
    reply: streamReply(RunUpdated, OutputMade, Trace),
    problems: noRun,
    handler: ({ params: { run_id }, query }) => ({ filter: runScope(all, run_id), ...included(query) }),
  })

const ofSession = (all: RouteContext): Route =>
  defineRoute({
    id: 'sessions.stream',
    method: 'GET',
    path: '/v1/sessions/:session_id/stream',
    summary: 'Follows the events of one session.',
    access: 'read',
    params: object({ session_id: SessionId }),
    query: object({
      run_id: optional(doc(id(), 'Only events of this run of the session.')),
      snapshot: optional(doc(boolean(), 'Begins with a frame session_snapshot: the session as it is now.')),
      ...include,
      ...cursor,
    }),
    reply: streamReply(SessionStateChanged, SessionSnapshotTaken, SessionInterrupted),
    problems: [sessionErrors.session_not_found, ...noRun],
    handler: ({ params: { session_id }, query: { run_id, snapshot, ...query }, caller }) => {
      const { sessions } = all.context
      const filter = run_id === undefined ? sessionScope(all, session_id) : runScope(all, run_id, session_id)
      const view = { filter, ...included(query) }
      if (snapshot !== true) return view
      const now = sessions.view(sessions.get(session_id), caller).snapshot
      return { ...view, first: { name: SessionSnapshotTaken.name, data: { session_id, snapshot: now } } }
    },
  })

const ofAll = (all: RouteContext): Route =>
  defineRoute({
    id: 'events.stream',
    method: 'GET',
    path: '/v1/events/stream',
    summary: 'Follows the events of the daemon, or of one session, one run, or one run of one session.',
    access: 'read',
    query: object({
      session_id: optional(doc(id(), 'Only events of this session.')),
      run_id: optional(doc(id(), 'Only events of this run.')),
      ...include,
      ...cursor,
    }),
    reply: streamReply(RunUpdated, OutputMade, Trace),
    problems: [sessionErrors.session_not_found, ...noRun],
    handler: ({ query: { session_id, run_id, ...query } }) => {
      const view = included(query)
      if (run_id !== undefined) return { filter: runScope(all, run_id, session_id), ...view }
      return session_id === undefined ? view : { filter: sessionScope(all, session_id), ...view }
    },
  })
