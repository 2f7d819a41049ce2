import {
  arraySource,
  defineRoute,
  doc,
  json,
  jsonReply,
  listPage,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type Clock,
  type Route,
  type State,
} from '../../../core/plugin.js'
import { runErrors } from '../runs/contract.js'
import { SessionId, sessionErrors, type Sessions } from '../sessions/contract.js'
import type { ToolRegistry } from '../tools/contract.js'
import { Grant, grantWishFields, type Grants } from './contract.js'
import { grantErrors } from './errors.js'
import type { GrantStore } from './store.js'

export interface GrantRouteParts {
  readonly store: GrantStore
  readonly grants: Grants
  readonly sessions: Sessions
  readonly tools: ToolRegistry
  readonly state: State
  readonly clock: Clock
}

const Wanted = object({
  session_id: optional(doc(SessionId, 'The session that it holds for; every session when absent.')),
  tool_name: doc(string({ min: 1, max: 200 }), 'Name of the tool.'),
  input: doc(json(), 'A call that is to pass: its command, path, host or whole input is what is covered.'),
  ...grantWishFields,
})

export const grantRoutes = (parts: GrantRouteParts): readonly Route[] => [list(parts), add(parts), revoke(parts)]

const list = ({ store, clock }: GrantRouteParts): Route =>
  defineRoute({
    id: 'grants.list',
    method: 'GET',
    path: '/v1/grants',
    summary: 'Lists remembered approvals that hold: all of them, or those for calls of one session.',
    access: 'read',
    query: object({ session_id: optional(SessionId), ...pageFields }),
    reply: jsonReply(pageOf(Grant)),
    problems: [...pageProblems],
    handler: ({ query }) =>
      listPage({
        query,
        source: arraySource(store.list(clock.now(), query.session_id), ({ grant_id }) => grant_id),
        label: 'grant_id_asc',
        view: (grant) => grant,
      }),
  })

const unfit =
  'must be an input that the tool takes and that a person can read whole: at most 1,000 characters, all visible'

const add = ({ grants, sessions, tools, state }: GrantRouteParts): Route =>
  defineRoute({
    id: 'grants.add',
    method: 'POST',
    path: '/v1/grants',
    summary: 'Lets calls of a tool pass without asking, in one session or in all, until it expires or is revoked.',
    access: 'admin',
    body: Wanted,
    reply: jsonReply(Grant, 201),
    problems: [
      sessionErrors.session_not_found,
      runErrors.session_ended,
      grantErrors.grant_invalid,
      grantErrors.grants_full,
    ],
    durability: 'A',
    example: { body: { tool_name: 'bash', input: { command: 'npm test' }, expires_in_ms: 3_600_000 } },
    handler: async ({ body: { session_id, tool_name, input, ...wish } }) => {
      if (session_id !== undefined && sessions.get(session_id).ended_at_ms !== undefined)
        throw runErrors.session_ended({ details: { session_id } })
      if (tools.find(tool_name) === undefined)
        throw grantErrors.grant_invalid({ errors: [{ path: 'body.tool_name', rule: 'must be the name of a tool' }] })
      const rule = grants.ruleOf(tool_name, input)
      if (rule === undefined) throw grantErrors.grant_invalid({ errors: [{ path: 'body.input', rule: unfit }] })
      const { write } = grants.draft({ session_id, tool_name, rule, wish }, 'body')
      return state.commit(write)
    },
  })

const revoke = ({ store, state }: GrantRouteParts): Route =>
  defineRoute({
    id: 'grants.revoke',
    method: 'DELETE',
    path: '/v1/grants/:grant_id',
    summary: 'Revokes a remembered approval: from the next call on it is asked again.',
    access: 'admin',
    params: object({ grant_id: string({ min: 1, max: 200 }) }),
    reply: jsonReply(Grant),
    problems: [grantErrors.grant_not_found],
    durability: 'A',
    handler: ({ params: { grant_id } }) => state.commit((tx) => store.revoke(tx, grant_id)),
  })
