import { defineErrors } from '../../../core/plugin.js'

export const worktreeErrors = defineErrors({
  worktree_not_found: {
    status: 404,
    detail: 'The run {run_id} has no worktree here.',
    action: 'See which there are with GET /v1/worktrees.',
  },
  worktree_not_removed: {
    status: 409,
    detail: 'Something in the worktree of the run {run_id} cannot be removed: {reason}.',
    action: 'Mend that, or remove it by hand, then send the request again.',
  },
  worktree_in_use: {
    status: 409,
    detail: 'The run {run_id} has not ended, and works in its worktree.',
    action: 'Wait for its end, or end it: POST /v1/runs/{run_id}/cancel.',
  },
})
