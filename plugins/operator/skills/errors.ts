import { defineErrors } from '../../../core/plugin.js'

export const skillErrors = defineErrors({
  skill_not_found: {
    status: 404,
    detail: 'There is no skill {name}.',
    action: 'Choose one that is listed: `holdfast skills list`, or for a model list_skills.',
  },
  skill_changed: {
    status: 409,
    detail: 'The skill {name} is not used: {what}.',
    action: 'Do without; an operator sees in GET /v1/status what to do.',
  },
  skill_not_inline: {
    status: 409,
    detail: 'The skill {name} cannot be used here: {what}.',
    action: 'Use another skill, or do without.',
  },
  too_many_skills: {
    status: 409,
    detail: 'The run uses as many skills as it can.',
    action: 'Go on without this one.',
  },
})
