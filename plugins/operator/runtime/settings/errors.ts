import { defineErrors } from '../../../../core/plugin.js'

/** Problems of changes of settings (runtime-27, runtime-28 and runtime-29). */
export const settingErrors = defineErrors({
  runtime_revision_conflict: {
    status: 409,
    domain: 'runtime',
    detail: 'The settings are at revision {revision}, not at {expected_revision}.',
    action: 'Read GET /v1/runtime, look at what has changed, and ask again with its config.revision.',
  },
  runtime_change_blocked: {
    status: 409,
    domain: 'runtime',
    detail: 'The {who} refused this change: {reason}',
    action: 'Do what the reason says, or ask again with skip_hooks true.',
  },
  runtime_revision_not_found: {
    status: 404,
    domain: 'runtime',
    detail: 'There is nothing to go back to: {reason}.',
    action: 'List the revisions that are kept with GET /v1/runtime/revisions.',
  },
  runtime_revision_unfit: {
    status: 409,
    domain: 'runtime',
    detail: 'What revision {revision} has of the setting {setting} cannot hold any more: {reason}.',
    action: 'Mend what it lacks, or choose another of GET /v1/runtime/revisions.',
  },
})
