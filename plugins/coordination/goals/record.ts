/** A goal as it is kept, and how it changes. What is used while it is active is known from a mark. Pure. */
import { enums, integer, object, optional, string, timestamp, type Infer } from '../../../core/plugin.js'
import type { UsageSums } from '../../operator/usage/contract.js'
import { goalStatuses, Objective, type SessionGoal } from '../../execution/sessions/contract.js'

const Tokens = object({ input_tokens: integer({ min: 0 }), output_tokens: integer({ min: 0 }) })
type Tokens = Infer<typeof Tokens>

export const GoalRecord = object({
  goal_id: string(),
  session_id: string(),
  objective: Objective,
  status: enums(goalStatuses),
  token_budget: optional(integer({ min: 1 })),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  version: integer({ min: 1 }),
  definition_version: integer({ min: 1 }),
  created_by_run_id: optional(string()),
  turns: integer({ min: 0 }),
  /** What was used before it became active last. */
  used: Tokens,
  used_ms: integer({ min: 0 }),
  /** While it is active: the sums of the session and the time when it became so. */
  mark: optional(object({ at_ms: timestamp(), used: Tokens })),
  last_continuation_run_id: optional(string()),
  budget_limited_by_run_id: optional(string()),
  budget_wrapup_run_id: optional(string()),
  completed_by_run_id: optional(string()),
  stop_code: optional(string()),
  stop_reason: optional(string()),
})
export type GoalRecord = Infer<typeof GoalRecord>

/** The time, and what the session has used by now. */
export interface Moment {
  readonly now: number
  readonly usage: Pick<UsageSums, 'input_tokens' | 'output_tokens'>
}

const usedBy = ({ used, mark }: GoalRecord, { usage }: Moment): Tokens => {
  const more = (key: keyof Tokens): number => (mark === undefined ? 0 : Math.max(0, usage[key] - mark.used[key]))
  return {
    input_tokens: used.input_tokens + more('input_tokens'),
    output_tokens: used.output_tokens + more('output_tokens'),
  }
}

export const tokensUsed = (goal: GoalRecord, moment: Moment): number => {
  const { input_tokens, output_tokens } = usedBy(goal, moment)
  return input_tokens + output_tokens
}

export const isSpent = (goal: GoalRecord, moment: Moment): boolean =>
  goal.token_budget !== undefined && tokensUsed(goal, moment) >= goal.token_budget

const usedMs = ({ used_ms, mark }: GoalRecord, now: number): number =>
  used_ms + (mark === undefined ? 0 : Math.max(0, now - mark.at_ms))

/** What ended the time before is told no more. */
const halted = (goal: GoalRecord, moment: Moment): GoalRecord => {
  const { mark: _, stop_code: __, stop_reason: ___, ...open } = goal
  const { budget_limited_by_run_id: ____, budget_wrapup_run_id: _____, ...rest } = open
  return { ...rest, used: usedBy(goal, moment), used_ms: usedMs(goal, moment.now) }
}

const next = (goal: GoalRecord, { now }: Moment): GoalRecord => ({
  ...goal,
  version: goal.version + 1,
  updated_at_ms: Math.max(now, goal.updated_at_ms),
})

const markAt = ({ now, usage: { input_tokens, output_tokens } }: Moment) => ({
  at_ms: now,
  used: { input_tokens, output_tokens },
})

/** Active anew: it may make as many runs as at first. */
export const activated = (goal: GoalRecord, moment: Moment): GoalRecord => ({
  ...next(halted(goal, moment), moment),
  status: 'active',
  turns: 0,
  mark: markAt(moment),
})

/** Not active any more, and why. */
export const stopped = (
  goal: GoalRecord,
  moment: Moment,
  why: Pick<GoalRecord, 'status'> & Partial<GoalRecord>,
): GoalRecord => ({ ...next(halted(goal, moment), moment), ...why })

/** With another objective or budget, of which undefined stays and null is none. */
export const redefined = (
  goal: GoalRecord,
  moment: Moment,
  { objective = goal.objective, token_budget = goal.token_budget }: Definition,
): GoalRecord => {
  const budget = token_budget === null ? undefined : token_budget
  if (objective === goal.objective && budget === goal.token_budget) return goal
  const { token_budget: _, ...rest } = next(goal, moment)
  return {
    ...rest,
    objective,
    ...(budget !== undefined && { token_budget: budget }),
    definition_version: goal.definition_version + 1,
  }
}

export interface Definition {
  readonly objective?: string | undefined
  readonly token_budget?: number | null | undefined
}

export interface GoalDraft {
  readonly goal_id: string
  readonly session_id: string
  readonly objective: string
  readonly token_budget?: number | undefined
  readonly status: 'active' | 'paused'
  readonly created_by_run_id?: string
}

export const created = ({ token_budget, status, ...draft }: GoalDraft, moment: Moment): GoalRecord => ({
  ...draft,
  status,
  ...(token_budget !== undefined && { token_budget }),
  created_at_ms: moment.now,
  updated_at_ms: moment.now,
  version: 1,
  definition_version: 1,
  turns: 0,
  used: { input_tokens: 0, output_tokens: 0 },
  used_ms: 0,
  ...(status === 'active' && { mark: markAt(moment) }),
})

export const shownGoal = (goal: GoalRecord, moment: Moment): SessionGoal => {
  const { used: _, used_ms: __, mark: ___, ...shown } = goal
  const accounted_usage = usedBy(goal, moment)
  return {
    ...shown,
    tokens_used: accounted_usage.input_tokens + accounted_usage.output_tokens,
    time_used_ms: usedMs(goal, moment.now),
    accounted_usage,
  }
}
