import { defineErrors } from '../../../core/plugin.js'

/** Problems of questions to parents. */
export const clarificationErrors = defineErrors({
  no_parent: {
    status: 409,
    domain: 'questions',
    detail: 'No agent started this one, or it is closed: there is nobody to ask.',
    action: 'Ask the user with ask_user_question, or decide yourself and say so.',
  },
  already_asking: {
    status: 409,
    domain: 'questions',
    detail: 'A question to the parent waits for its answer already: {request_id}.',
    action: 'End the turn: the answer comes as a message.',
  },
})
