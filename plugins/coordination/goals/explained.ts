/** Why the goal of a session makes no further run (explanations-13). */
import { commandLine, sentence } from '../../../core/plugin.js'
import type { ReasonSource } from '../../operator/explanations/contract.js'
import type { GoalStore } from './store.js'

export const goalReasons = (store: GoalStore): ReasonSource => ({
  id: 'goals',
  of({ kind, session_id }) {
    if (kind !== 'agent') return []
    const goal = store.find(session_id)
    if (goal === undefined || goal.status === 'active' || goal.status === 'complete') return []
    const { status, stop_reason, updated_at_ms } = goal
    const how = status === 'paused' ? 'Its goal is paused' : 'The budget of its goal is used up'
    const budget = status === 'budget_limited' ? ['--token-budget', 'TOKENS'] : []
    return [
      {
        code: status === 'paused' ? 'goal_paused' : 'goal_budget',
        text: sentence(stop_reason === undefined ? how : `${how}: ${stop_reason}`),
        since_ms: updated_at_ms,
        commands: [commandLine(['goals resume', ...budget].join(' '), session_id)],
      },
    ]
  },
})
