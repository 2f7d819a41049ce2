/** Why the goal of a session makes no further run (explanations-13). */
import { commandLine, sentence } from '../../../core/plugin.js'
import type { ReasonSource } from '../../operator/explanations/contract.js'
import { isSpent } from './record.js'
import type { GoalStore } from './store.js'
import { ownBudgetCode } from './stops.js'

export const goalReasons = (store: GoalStore): ReasonSource => ({
  id: 'goals',
  of({ kind, session_id }) {
    if (kind !== 'agent') return []
    const goal = store.find(session_id)
    if (goal === undefined || goal.status === 'active' || goal.status === 'complete') return []
    const { status, stop_code, stop_reason, updated_at_ms } = goal
    const isOwn = stop_code === ownBudgetCode
    const how =
      status === 'paused'
        ? 'Its goal is paused'
        : `${isOwn ? 'The budget of its goal' : 'A budget that its goal uses'} is used up`
    const budget = isSpent(goal, store.moment(session_id)) ? ['--token-budget', 'TOKENS'] : []
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
