import {
  array,
  clampLimit,
  defaulted,
  defineRoute,
  doc,
  integer,
  jsonReply,
  object,
  optional,
  pageProblems,
  string,
  type Route,
} from '../../../core/plugin.js'
import { SessionId, sessionErrors } from '../sessions/contract.js'
import { RunMemoryPolicy, SessionMemoryContextView, SessionMemorySearchView, SkillSummary } from './contract.js'
import type { Recall } from './recall.js'

/** Most results of a search (memory-10). */
const mostResults = 50
const params = object({ session_id: SessionId })
const query = optional(doc(string({ max: 2000 }), 'What to look for; blanks alone are no query.'))

export const memoryRoutes = (recall: Recall, policy: RunMemoryPolicy): readonly Route[] => [
  defineRoute({
    id: 'sessions.memory_context',
    method: 'GET',
    path: '/v1/sessions/:session_id/memory-context',
    access: 'read',
    summary: 'What a session remembers, as far as a model may be shown it: learnings, recovered runs, skills.',
    params,
    query: object({ query }),
    reply: jsonReply(SessionMemoryContextView),
    problems: [sessionErrors.session_not_found],
    handler: (input) => recall.context(input.params.session_id, input.query.query),
  }),
  defineRoute({
    id: 'sessions.memory_search',
    method: 'GET',
    path: '/v1/sessions/:session_id/memory-search',
    access: 'read',
    summary: 'Searches what a session remembers; without a query the newest first, and no skills.',
    params,
    query: object({
      query,
      limit: defaulted(doc(integer(), `Most results, 1 to ${mostResults}; larger values mean ${mostResults}.`), 12),
    }),
    reply: jsonReply(SessionMemorySearchView),
    problems: [sessionErrors.session_not_found, ...pageProblems],
    handler: (input) =>
      recall.search(input.params.session_id, {
        query: input.query.query,
        limit: clampLimit(input.query.limit, mostResults),
      }),
  }),
  defineRoute({
    id: 'sessions.skills',
    method: 'GET',
    path: '/v1/sessions/:session_id/skills',
    access: 'read',
    summary: 'The skills that a session sees, by name.',
    params,
    query: object({
      query: optional(
        doc(string({ max: 2000 }), 'Only skills that have this in name or description; case does not count.'),
      ),
    }),
    reply: jsonReply(array(SkillSummary)),
    problems: [sessionErrors.session_not_found],
    handler: (input) => recall.skills(input.params.session_id, input.query.query),
  }),
  defineRoute({
    id: 'runtime.run_memory_policy',
    method: 'GET',
    path: '/v1/runtime/run-memory-policy',
    access: 'read',
    summary: 'What is remembered of runs, for how long, and who finds it.',
    reply: jsonReply(RunMemoryPolicy),
    handler: () => ({ ...policy }),
  }),
]
