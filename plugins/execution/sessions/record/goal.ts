/** The goal of a session as views show it; the plugin of goals keeps it. */
import {
  doc,
  enums,
  integer,
  named,
  notBlank,
  object,
  optional,
  string,
  timestamp,
  type Infer,
} from '../../../../core/plugin.js'

/** Wire names of the states of a goal (goals-1). */
export const goalStatuses = ['active', 'paused', 'budget_limited', 'complete'] as const

/** What is to be reached, in words. */
export const Objective = string({ min: 1, max: 4_000, pattern: notBlank })

const run = (description: string) => optional(doc(string(), description))

/** A goal as clients see it. */
export const SessionGoal = named(
  'SessionGoal',
  object({
    goal_id: string(),
    session_id: doc(string(), 'Id of the session.'),
    objective: Objective,
    status: enums(goalStatuses),
    token_budget: optional(doc(integer({ min: 1 }), 'Tokens of input and output together.')),
    tokens_used: doc(integer({ min: 0 }), 'By all runs of the session while the goal was active.'),
    time_used_ms: doc(integer({ min: 0 }), 'While the goal was active.'),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
    version: doc(integer({ min: 1 }), 'One more with every change, but for runs that it makes.'),
    definition_version: doc(integer({ min: 1 }), 'One more with every change of objective or budget.'),
    created_by_run_id: run('The run whose model set it.'),
    accounted_usage: object({ input_tokens: integer({ min: 0 }), output_tokens: integer({ min: 0 }) }),
    turns: doc(integer({ min: 0 }), 'Runs that it made since it became active.'),
    last_continuation_run_id: run('The run that it made last.'),
    budget_limited_by_run_id: run('The run after which the budget was used up.'),
    budget_wrapup_run_id: run('The run that was asked to say how far it is.'),
    completed_by_run_id: run('The run whose model called it complete.'),
    stop_code: optional(doc(string(), 'Why the daemon stopped it.')),
    stop_reason: optional(doc(string(), 'The same in words.')),
  }),
)
/** The value form of `SessionGoal`. */
export type SessionGoal = Infer<typeof SessionGoal>
