import { defineErrors } from '../../../core/plugin.js'

/** Problems of changes of the learning policy. */
export const learningErrors = defineErrors({
  invalid_learning_policy: {
    status: 400,
    domain: 'runtime',
    detail: 'This learning policy cannot hold.',
    action: 'Give the whole policy with its mode, as GET /v1/runtime/learning-policy shows it.',
  },
})
