import { defineErrors } from '../../../core/plugin.js'

export const hookErrors = defineErrors({
  invalid_hook_settings: {
    status: 400,
    domain: 'runtime',
    detail: 'These hooks cannot be: {reason}',
    action: 'Correct what is named; docs/rules/hooks.md says what a hook may be.',
  },
  dead_letter_not_found: {
    status: 404,
    domain: 'hooks',
    detail: 'There is no dead letter {dead_letter_id}.',
    action: 'List them with GET /v1/runtime/hooks/dead-letter.',
  },
})
