import { commandLine, type HealthCheck } from '../../../core/plugin.js'
import type { SessionGoal } from '../../execution/sessions/contract.js'
import { budgetOf, type Budgeted } from '../../operator/usage/contract.js'
import type { GoalRecord } from './record.js'
import type { GoalStore } from './store.js'
import { sharedBudgetCode } from './stops.js'

const mostShown = 10

const raise = (of: Budgeted): string =>
  `raise max_${of}_output_tokens or max_${of}_cost_usd in config/usage.toml and restart the daemon. `

/** What there is to do before, where a budget of the daemon is used up: each run has its own. */
const freed = (why = ''): string => {
  switch (budgetOf(why)) {
    case 'run':
      return 'Its next run may use as much again. '
    case 'session':
      return `First ${raise('session')}`
    case 'day':
      return `First wait for the next day, or ${raise('day')}`
    default:
      return 'First see which budget it was: holdfast usage. '
  }
}

/** What has it go on, for what it was stopped by, and for its own budget, which may have been lowered since. */
const wayOn = (
  { session_id, stop_code, stop_reason }: GoalRecord,
  { token_budget = 0, tokens_used }: SessionGoal,
): string => {
  const resume = (flags = ''): string => commandLine(`goals resume${flags}`, session_id)
  if (token_budget > 0 && tokens_used >= token_budget) {
    const more = resume(` --token-budget ${tokens_used + token_budget}`)
    return `To have it go on with as many tokens again: ${more}. Without a budget: ${resume(' --clear-token-budget')}`
  }
  if (stop_code === sharedBudgetCode) return `${freed(stop_reason)}To have it go on: ${resume()}`
  return `To have it go on: ${resume()}`
}

/** Goals that the daemon stopped: somebody expects them to go on. */
export const goalsHealth = ({ collection, shown }: GoalStore): HealthCheck => ({
  id: 'goals',
  check: () =>
    collection.list({ index: 'stopped', group: 'all', limit: mostShown }).map((goal) => {
      const { session_id, stop_code, stop_reason } = goal
      return {
        severity: 'warning',
        code: 'goal_stopped',
        related_id: session_id,
        message: `The goal of the session ${session_id} does not go on, ${stop_code}: ${stop_reason}`,
        action: `${wayOn(goal, shown(goal))}. To hear no more of it: ${commandLine('goals clear', session_id)}`,
      }
    }),
})
