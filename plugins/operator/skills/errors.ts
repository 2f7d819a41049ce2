import { defineErrors } from '../../../core/plugin.js'

export const skillErrors = defineErrors({
  skill_not_found: {
    status: 404,
    detail: 'There is no skill {name}.',
    action: 'List the skills that are there: holdfast skills list.',
  },
})
