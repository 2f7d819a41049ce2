import { defineErrors } from '../../../core/plugin.js'

const reread = 'Read the pending question again with GET /v1/questions.'

export const questionErrors = defineErrors({
  question_request_mismatch: {
    status: 400,
    domain: 'questions',
    detail: 'Request {request_id} is not the one that is pending.',
    action: reread,
  },
  question_option_not_found: {
    status: 400,
    domain: 'questions',
    detail: 'A selected option is not one of the question {question_id}.',
    action: reread,
  },
  question_answer_missing: {
    status: 400,
    domain: 'questions',
    detail: 'The question {question_id} is not answered.',
    action: 'Answer every question of the request, or decline it.',
  },
  question_duplicate_answer: {
    status: 400,
    domain: 'questions',
    detail: 'A question is answered twice.',
    action: 'Send one answer for each question.',
  },
  question_duplicate_option: {
    status: 400,
    domain: 'questions',
    detail: 'An option is selected twice in the answer to {question_id}.',
    action: 'Name each option once.',
  },
  question_declined_with_answers: {
    status: 400,
    domain: 'questions',
    detail: 'A declined resolution carries answers.',
    action: 'Send declined without answers, or answers without declined.',
  },
  question_single_select_violation: {
    status: 400,
    domain: 'questions',
    detail: 'The question {question_id} takes one option.',
    action: 'Select one option.',
  },
  question_answer_empty: {
    status: 400,
    domain: 'questions',
    detail: 'The answer to {question_id} has neither options nor text.',
    action: 'Select an option or write an answer.',
  },
  question_unknown_answer: {
    status: 400,
    domain: 'questions',
    detail: 'An answer names a question that is not in the request.',
    action: reread,
  },
  question_state_conflict: {
    status: 409,
    domain: 'questions',
    detail: 'Nothing waits for an answer here: {what} is {status}.',
    action: 'GET /v1/questions lists the questions that wait; GET /v1/runs/{run_id} says what became of this one.',
  },
  question_resolution_conflict: {
    status: 409,
    domain: 'questions',
    detail: 'The question {request_id} of an agent to its parent was answered otherwise, and the agent was told.',
    action: 'Read the answer in the events of the run; send the agent a message with POST /v1/mailboxes.',
  },
  question_expiry_ambiguous: {
    status: 400,
    domain: 'questions',
    detail: 'expires_at_ms and expires_after_ms are both given.',
    action: 'Give one of them.',
  },
  question_expiry_past: {
    status: 400,
    domain: 'questions',
    detail: 'expires_at_ms is in the past.',
    action: 'Give a later time, or expires_after_ms.',
  },
  question_expired: {
    status: 409,
    domain: 'questions',
    detail: 'The question {request_id} has expired: nobody can answer it any more.',
    action: 'Look at the run that asked, and submit a new one if it did not go on.',
  },
})
