import { commandLine, type HealthCheck } from '../../../core/plugin.js'
import type { SessionGoal } from '../../execution/sessions/contract.js'
import type { GoalRecord } from './record.js'
import type { GoalStore } from './store.js'
import { ownBudgetCode, sharedBudgetCode } from './stops.js'

const mostShown = 10

/** What has it go on, for what it was stopped by. */
const wayOn = ({ session_id, stop_code }: GoalRecord, { token_budget = 0, tokens_used }: SessionGoal): string => {
  const resume = (flags = ''): string => commandLine(`goals resume${flags}`, session_id)
  if (stop_code === ownBudgetCode) {
    const more = resume(` --token-budget ${tokens_used + token_budget}`)
    return `To have it go on with as many tokens again: ${more}. Without a budget: ${resume(' --clear-token-budget')}`
  }
  if (stop_code === sharedBudgetCode)
    return `Wait for the next day or raise the budget in config/usage.toml, then have it go on: ${resume()}`
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
