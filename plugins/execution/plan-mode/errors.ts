import { defineErrors } from '../../../core/plugin.js'

/** What a model can correct about plan mode. */
export const planErrors = defineErrors({
  plan_mode_not_active: {
    status: 409,
    detail: 'This session is not in plan mode.',
    action: 'Call enter_plan_mode first, or go on without.',
  },
})
