import { defineErrors } from '../../../core/plugin.js'

export const debugErrors = defineErrors({
  run_debug_not_found: {
    status: 404,
    domain: 'runs',
    detail: 'Nothing is kept of run {run_id}.',
    action:
      'Start the daemon with --debug-level on, redacted or full before the run; what is kept ends with its time ' +
      'to live.',
  },
  run_debug_artifact_not_found: {
    status: 404,
    domain: 'runs',
    detail: 'Run {run_id} has no artifact {artifact_id}.',
    action: 'List them with GET /v1/runs/{run_id}/debug.',
  },
  run_debug_artifact_unreadable: {
    status: 409,
    domain: 'runs',
    detail: 'The artifact {artifact_id} of run {run_id} cannot be read: {reason}.',
    action: 'Start the daemon with the key that encryption_key_id names; damaged bytes come back from a backup only.',
  },
  run_retention_invalid_request: {
    status: 400,
    domain: 'runs',
    detail: 'The request does not say what to prune.',
    action: 'Send older_than_ms above 0, and session_id, limit and dry_run if you want them.',
  },
  debug_capture_key_unusable: {
    status: 409,
    domain: 'runs',
    detail: 'The key for debug evidence cannot be used: {reason}.',
    action:
      'Give 32 bytes in hex or base64 with --debug-capture-key-file or SERVICE_DEBUG_CAPTURE_KEY, or turn capture off.',
  },
})
