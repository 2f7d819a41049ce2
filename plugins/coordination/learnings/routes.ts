import {
  array,
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
} from '../../../core/plugin.js'
import { bodyLimit, overrides, type LearningRouteParts } from './candidate-routes.js'
import { mostContent } from './checked.js'
import { learningErrors } from './errors.js'
import { learningFilter, learningFilters } from './filters.js'
import { mostRevoked } from './operate.js'
import { Learning } from './record.js'

const path = '/v1/learnings/:learning_id'
const params = object({ learning_id: string({ min: 1, max: 200 }) })
const Reason = optional(doc(string({ max: 400 }), 'Kept with what is revoked; a blank one is none.'))

export const learningRoutes = (parts: LearningRouteParts): readonly Route[] => [
  list(parts),
  read(parts),
  revoke(parts),
  supersede(parts),
  revokeMatching(parts),
]

const list = ({ store, found, skip }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learnings.list',
    method: 'GET',
    path: '/v1/learnings',
    summary: 'Lists learnings by id, whatever their status.',
    access: 'read',
    query: object({ ...learningFilters, ...pageFields }),
    reply: jsonReply(pageOf(Learning)),
    problems: [...pageProblems, learningErrors.invalid_learning_filter],
    handler: async ({ query: { page, cursor, limit, ...wish } }) =>
      listPage({
        query: { page, cursor, limit },
        source: await found.learnings(learningFilter(wish, 'query')),
        label: 'learning_id_asc',
        view: (id) => store.learning(id),
        skip,
      }),
  })

const read = ({ store }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learnings.get',
    method: 'GET',
    path,
    summary: 'Reads a learning.',
    access: 'read',
    params,
    reply: jsonReply(Learning),
    problems: [learningErrors.learning_not_found],
    handler: (input) => store.learning(input.params.learning_id),
  })

const revoke = ({ operations }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learnings.revoke',
    method: 'POST',
    path: `${path}/revoke`,
    summary: 'Ends a learning for good: no model is told of it any more, and no search finds it.',
    access: 'admin',
    params,
    body: object({ reason: Reason }),
    bodyOptional: true,
    reply: jsonReply(Learning),
    problems: [learningErrors.learning_not_found, learningErrors.learning_secret, learningErrors.learnings_unsettled],
    durability: 'A',
    example: { body: { reason: 'It is not so any more.' } },
    handler: (input) => operations.revoke(input.params.learning_id, input.body.reason),
  })

const supersede = ({ operations }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learnings.supersede',
    method: 'POST',
    path: `${path}/supersede`,
    summary: 'Puts an active learning in the place of one; what is not said is as it was.',
    access: 'admin',
    bodyLimit,
    params,
    body: object({
      ...overrides,
      content: doc(string(), `What holds instead: 1 to ${mostContent} characters, without the blanks around them.`),
    }),
    reply: jsonReply(Learning),
    problems: [
      learningErrors.learning_not_found,
      learningErrors.invalid_learning,
      learningErrors.learning_secret,
      learningErrors.learning_revoked,
      learningErrors.learning_superseded,
      learningErrors.learning_scope_mismatch,
      learningErrors.learning_conflict,
      learningErrors.learnings_full,
      learningErrors.learnings_unsettled,
    ],
    durability: 'A',
    example: { body: { content: 'Releases are made on Wednesdays.' } },
    handler: (input) => operations.supersede(input.params.learning_id, input.body),
  })

const revokeMatching = ({ operations }: LearningRouteParts): Route =>
  defineRoute({
    id: 'learnings.revoke_matching',
    method: 'POST',
    path: '/v1/learnings/revoke-matching',
    summary:
      `Revokes the learnings that fit, all of them or none: the first ${mostRevoked} by id, or fewer long ones. ` +
      'Ask again until the answer is empty.',
    access: 'admin',
    body: object({ ...learningFilters, reason: Reason }),
    reply: jsonReply(array(Learning)),
    problems: [
      learningErrors.invalid_learning_filter,
      learningErrors.learning_secret,
      learningErrors.learnings_unsettled,
    ],
    durability: 'A',
    example: { body: { matched_rule_name: 'facts', reason: 'The rule was too wide.' } },
    handler: async ({ body: { reason, ...wish } }) => [...(await operations.revokeMatching(wish, reason))],
  })
