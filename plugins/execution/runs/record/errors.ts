import { defineErrors } from '../../../../core/plugin.js'

export const runErrors = defineErrors({
  run_not_found: {
    status: 404,
    domain: 'runs',
    detail: 'There is no run {run_id}.',
    action: 'List the runs with GET /v1/runs.',
  },
  run_expired: {
    status: 404,
    domain: 'runs',
    detail: 'Run {run_id} is older than what is kept; it may have been here.',
    action: 'Look into the archives of archive_dir, if there are any: holdfast state show --archive FILE',
  },
  run_state_conflict: {
    status: 409,
    domain: 'runs',
    detail: 'Run {run_id} is {from} and cannot become {to}.',
    action: 'See what the run is and what can be done: GET /v1/runs/{run_id}',
  },
  run_not_retryable: {
    status: 409,
    domain: 'runs',
    detail: 'Run {run_id} is {status}: only a run that failed, was interrupted or was cancelled can be retried.',
    action: 'Submit a new run with POST /v1/sessions/{session_id}/runs.',
  },
  required_tools_missing: {
    status: 503,
    domain: 'runs',
    detail: 'Session {session_id} takes no run: {missing}.',
    action: 'See GET /v1/explanations/{session_id} for how it is; submit again when it is there.',
  },
  session_busy: {
    status: 409,
    domain: 'sessions',
    detail: 'Session {session_id} has active or queued work.',
    action: 'Wait for it, interrupt it, or queue a detached run with POST /v1/sessions/{session_id}/runs.',
  },
  session_ended: {
    status: 409,
    domain: 'sessions',
    detail: 'Session {session_id} has ended.',
    action: 'Use another session, or open it again: holdfast sessions create {session_id}',
  },
  run_input_missing: {
    status: 400,
    domain: 'runs',
    detail: 'The request carries no input.',
    action: 'Send content, or input_items or attachments that are not empty.',
  },
  run_input_conflict: {
    status: 400,
    domain: 'runs',
    detail: 'input_items cannot be combined with content or attachments.',
    action: 'Send one of them.',
  },
  inline_asset_empty: {
    status: 400,
    domain: 'runs',
    detail: 'A file of the request has no name or no content.',
    action: 'Send file_name and content_base64, both not empty.',
  },
  assets_unavailable: {
    status: 400,
    domain: 'runs',
    detail: 'This daemon keeps no files or no boards: the plugin that does is off.',
    action: 'Send text, or turn the plugin on.',
  },
  binding_key_blank: {
    status: 400,
    domain: 'runs',
    detail: 'A binding key is blank.',
    action: 'Leave it out.',
  },
  binding_conflict: {
    status: 409,
    domain: 'sessions',
    detail: 'The binding key {key} belongs to another session.',
    action: 'Submit to the session that it is bound to, or use another key.',
  },
  reply_target_incomplete: {
    status: 400,
    domain: 'runs',
    detail: 'reply_plugin and reply_address go together.',
    action: 'Send both, or reply_targets.',
  },
  reply_unavailable: {
    status: 400,
    domain: 'runs',
    detail: 'This daemon has no plugin that delivers outputs.',
    action: 'Leave the reply targets out and read the outputs of the run.',
  },
  reserved_metadata_key: {
    status: 400,
    domain: 'runs',
    detail: 'The metadata key {key} belongs to the daemon.',
    action: 'Use another key.',
  },
  completion_requirement_invalid: {
    status: 400,
    domain: 'runs',
    detail: 'A completion requirement names what no run can make: {reason}',
    action: 'Name a file inside the workspace.',
  },
  isolation_unavailable: {
    status: 409,
    domain: 'runs',
    detail: 'The run cannot have a git worktree of its own: {reason}.',
    action: 'Mend that, or have runs work in the workspace: holdfast sessions set-isolation {session_id} shared',
  },
  run_folder_not_found: {
    status: 409,
    domain: 'runs',
    detail: 'The folder {folder}, in which its agent works, is not there.',
    action: 'Make the folder again, or start an agent that works elsewhere.',
  },
  run_queue_full: {
    status: 429,
    domain: 'runs',
    detail: 'Session {session_id} has {limit} queued runs, which is the limit.',
    action: 'Wait until some have ended, or use another session.',
  },
})
