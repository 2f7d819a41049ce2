import {
  boolean,
  defineRoute,
  doc,
  enums,
  integer,
  jsonReply,
  object,
  optional,
  string,
  type Infer,
  type Route,
} from '../../../core/plugin.js'
import { runErrors } from '../../execution/runs/contract.js'
import { Objective, SessionGoal, SessionId, sessionErrors, type Sessions } from '../../execution/sessions/contract.js'
import { goalErrors } from './errors.js'
import { settableStatuses, type Goals } from './service.js'
import type { GoalStore } from './store.js'

const Budget = doc(
  integer({ min: 1, max: 1_000_000_000_000 }),
  'Tokens of input and output together, of all runs of the session while the goal is active.',
)
const GoalReply = object({
  goal: optional(SessionGoal),
  remaining_tokens: optional(doc(integer({ min: 0 }), 'Absent without a budget.')),
})
const Wish = object({
  objective: Objective,
  token_budget: optional(Budget),
  status: optional(doc(enums(['active', 'paused']), 'active when absent.')),
})
const Change = object({
  objective: optional(Objective),
  token_budget: optional(Budget),
  clear_token_budget: optional(doc(boolean(), 'True for no budget any more.')),
  status: optional(enums(settableStatuses)),
  expected_goal_id: optional(doc(string({ max: 200 }), 'Refused if the session has another goal.')),
  expected_version: optional(doc(integer({ min: 1 }), 'Refused if the goal is in another version.')),
  require_no_active_runs: optional(doc(boolean(), 'True to refuse while a run of the session is not over.')),
})

interface GoalRouteParts {
  readonly store: GoalStore
  readonly goals: Goals
  readonly sessions: Pick<Sessions, 'get'>
}

const params = object({ session_id: SessionId })
const shared = { path: '/v1/sessions/:session_id/goal', params, reply: jsonReply(GoalReply) } as const
const problems = [sessionErrors.session_not_found, runErrors.session_ended, goalErrors.goal_invalid_request]
const example = { body: { objective: 'All links in docs/ lead somewhere.', token_budget: 200_000 } }

const reply = (store: GoalStore, session_id: string): Infer<typeof GoalReply> => {
  const record = store.find(session_id)
  if (record === undefined) return {}
  const goal = store.shown(record)
  const { token_budget, tokens_used } = goal
  return { goal, ...(token_budget !== undefined && { remaining_tokens: Math.max(0, token_budget - tokens_used) }) }
}

export const goalRoutes = ({ store, goals, sessions }: GoalRouteParts): readonly Route[] => [
  defineRoute({
    ...shared,
    id: 'sessions.goal.get',
    method: 'GET',
    summary: 'What the session works towards by itself; an empty object if it has no goal.',
    access: 'read',
    problems: [sessionErrors.session_not_found],
    handler: ({ params: { session_id } }) => {
      sessions.get(session_id)
      return reply(store, session_id)
    },
  }),
  defineRoute({
    ...shared,
    id: 'sessions.goal.create',
    method: 'POST',
    summary: 'Sets a goal: runs are made until it is complete, or its bounds are reached.',
    access: 'admin',
    durability: 'A',
    body: Wish,
    problems: [...problems, goalErrors.goal_already_exists],
    example,
    handler: async ({ params: { session_id }, body }) => {
      await goals.create(session_id, body)
      return reply(store, session_id)
    },
  }),
  defineRoute({
    ...shared,
    id: 'sessions.goal.set',
    method: 'PUT',
    summary: 'Makes the goal what the body says, whether there is one or not; what it has used counts on.',
    access: 'admin',
    durability: 'A',
    body: Wish,
    problems,
    example,
    handler: async ({ params: { session_id }, body }) => {
      await goals.set(session_id, body)
      return reply(store, session_id)
    },
  }),
  defineRoute({
    ...shared,
    id: 'sessions.goal.change',
    method: 'PATCH',
    summary: 'Changes what the body names: pauses the goal, has it go on, gives it another budget.',
    access: 'admin',
    durability: 'A',
    body: Change,
    problems: [...problems, goalErrors.goal_not_found, goalErrors.goal_conflict, goalErrors.goal_session_not_idle],
    example: { body: { status: 'paused' } },
    handler: async ({ params: { session_id }, body }) => {
      await goals.change(session_id, body)
      return reply(store, session_id)
    },
  }),
  defineRoute({
    ...shared,
    id: 'sessions.goal.clear',
    method: 'DELETE',
    summary: 'Clears the goal; a run of it that is under way goes on to its end.',
    access: 'admin',
    durability: 'A',
    problems: [sessionErrors.session_not_found],
    handler: async ({ params: { session_id } }) => {
      await goals.clear(session_id)
      return reply(store, session_id)
    },
  }),
]
