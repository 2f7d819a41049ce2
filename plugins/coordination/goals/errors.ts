import { defineErrors } from '../../../core/plugin.js'

/** Problems of goals. */
export const goalErrors = defineErrors({
  goal_not_found: {
    status: 404,
    domain: 'goals',
    detail: 'The session {session_id} has no goal.',
    action: 'Set one with POST /v1/sessions/{session_id}/goal.',
  },
  goal_already_exists: {
    status: 409,
    domain: 'goals',
    detail: 'The session {session_id} has a goal that is not complete.',
    action:
      'Change it with PATCH /v1/sessions/{session_id}/goal, ' +
      'or clear it first with DELETE /v1/sessions/{session_id}/goal.',
  },
  goal_conflict: {
    status: 409,
    domain: 'goals',
    detail: 'The goal is {goal_id} in version {version}, not the one that was expected.',
    action: 'Read GET /v1/sessions/{session_id}/goal, look at what has changed, and ask again.',
  },
  goal_session_not_idle: {
    status: 409,
    domain: 'goals',
    detail: 'The session {session_id} has a run that is not over.',
    action: 'Wait for the end of the run, or ask without require_no_active_runs.',
  },
  goal_invalid_request: {
    status: 400,
    domain: 'goals',
    detail: 'This cannot be done with the goal: {reason}',
    action: 'Correct what is named.',
  },
})

/** What else can be done with a goal that is complete. */
export const completeGoal = defineErrors({
  goal_invalid_request: {
    status: 400,
    domain: 'goals',
    detail: 'This cannot be done with the goal of the session {session_id}: it is complete.',
    action: 'Set a new one with POST /v1/sessions/{session_id}/goal.',
  },
})

/** The same of what a model asks for: it has no routes, and what a person has cleared is not its to set. */
export const goalToolErrors = defineErrors({
  goal_not_found: {
    status: 404,
    domain: 'goals',
    detail: 'The session {session_id} has no goal that is not complete.',
    action: 'There is nothing to complete. Call create_goal only if a person asks for a new goal.',
  },
  goal_already_exists: {
    status: 409,
    domain: 'goals',
    detail: 'The session {session_id} has a goal that is not complete.',
    action: 'Read it with get_goal, and leave it as it is: only a person changes or clears it.',
  },
  goal_conflict: {
    status: 409,
    domain: 'goals',
    detail: 'The goal is {goal_id} in version {version}, not the one that you were asked with: it was changed since.',
    action: 'Read it with get_goal, and call update_goal again only if its objective as it is now is reached.',
  },
})
