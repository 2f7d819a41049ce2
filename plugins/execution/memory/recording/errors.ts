import { defineErrors } from '../../../../core/plugin.js'

/** Problems of changes of the policy of run memory (runtime-33). */
export const policyErrors = defineErrors({
  invalid_run_memory_policy: {
    status: 400,
    domain: 'runtime',
    detail: 'This policy of run memory cannot hold.',
    action: 'Give at least one of its members, as GET /v1/runtime/run-memory-policy shows them.',
  },
})
