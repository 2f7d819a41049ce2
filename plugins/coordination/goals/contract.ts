/** What a session works towards by itself, within bounds. Rules: docs/rules/goals.md. */
import { defineEvent, nullable, object, string } from '../../../core/plugin.js'
import { SessionGoal } from '../../execution/sessions/contract.js'

/** Published when the goal of a session has changed, also when it made a run (goals-9). */
export const SessionGoalUpdated = defineEvent({
  name: 'session_goal_updated',
  summary: 'The goal of a session changed; null when it has none any more.',
  data: object({ session_id: string(), goal: nullable(SessionGoal) }),
})
