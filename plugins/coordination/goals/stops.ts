/** Why a goal does not go on. */
import type { RunRecord, Runs } from '../../execution/runs/contract.js'
import { isSpent, tokensUsed, type GoalRecord, type Moment } from './record.js'

/** How a goal is stopped. */
export type Stop = Pick<GoalRecord, 'status' | 'stop_code' | 'stop_reason'>

/** Codes of runs that ended because nothing more may be used: of the goal's own budget, and of those of usage. */
export const [ownBudgetCode, sharedBudgetCode] = ['goal_budget_exhausted', 'budget_exhausted'] as const
const budgetCodes: ReadonlySet<string> = new Set([ownBudgetCode, sharedBudgetCode])
const errorOf = (run: RunRecord): string => ('error' in run && run.error) || ''
/** The code that an error begins with, and what it says. */
const told = (error: string): readonly [string, string] => {
  const [, code = '', text = error] = /^([a-z_]+): (.*)$/su.exec(error) ?? []
  return [code, text]
}

export const paused = (stop_code: string, stop_reason: string): Stop => ({ status: 'paused', stop_code, stop_reason })
const limited = (stop_code: string, stop_reason: string): Stop => ({ status: 'budget_limited', stop_code, stop_reason })

/** True where only the goal's own budget is used up, so that another run gets an answer. */
export const mayWrapUp = ({ stop_code }: Stop): boolean => stop_code === ownBudgetCode

/** The run before, if the goal has made one since it became active. */
export const lastRun = (
  runs: Pick<Runs, 'find'>,
  { turns, last_continuation_run_id: run_id }: GoalRecord,
): RunRecord | undefined => (turns === 0 || run_id === undefined ? undefined : runs.find(run_id))

const used = (goal: GoalRecord, moment: Moment): string =>
  `${tokensUsed(goal, moment)} of ${goal.token_budget} tokens are used`

/** Undefined if it goes on. */
export const stopOf = (
  goal: GoalRecord,
  {
    last,
    moment,
    max_turns,
  }: { readonly last: RunRecord | undefined; readonly moment: Moment; readonly max_turns: number },
): Stop | undefined => {
  if (last !== undefined && last.status !== 'completed') {
    const [code, text] = told(errorOf(last))
    const how = `its run ${last.run_id} ${last.status === 'failed' ? 'failed' : `was ${last.status}`}`
    return budgetCodes.has(code) ? limited(code, `${how}: ${text}`) : paused(`run_${last.status}`, `${how}.`)
  }
  if (isSpent(goal, moment)) return limited(ownBudgetCode, `${used(goal, moment)}.`)
  if (goal.turns >= max_turns) return paused('goal_turns_exhausted', `it made ${goal.turns} runs without an end.`)
  return undefined
}

/** Why the run that a goal made last may not ask its model again. */
export const refusalOf = (goal: GoalRecord, moment: Moment): string | undefined =>
  isSpent(goal, moment)
    ? `${ownBudgetCode}: the budget of the goal of the session is used up: ${used(goal, moment)}.`
    : undefined
