import { defineErrors } from '../../../core/plugin.js'

export const sessionErrors = defineErrors({
  invalid_session_id: {
    status: 400,
    domain: 'sessions',
    detail: 'A session id must not be empty, "." or "..", and must hold no slash, backslash or control character.',
    action: 'Choose another id, or leave it out to get one.',
  },
  session_not_found: {
    status: 404,
    domain: 'sessions',
    detail: 'There is no session {session_id}.',
    action: 'List the sessions, or create one with POST /v1/sessions.',
  },
  session_conflict: {
    status: 409,
    domain: 'sessions',
    detail: 'Session {session_id} exists with another {field}.',
    action: 'Leave the field out to use the session as it is, or choose another session id.',
  },
  session_not_idle: {
    status: 409,
    domain: 'sessions',
    detail: 'Session {session_id} is not idle: it has {reason}.',
    action: 'Wait until it is idle, or interrupt its run and cancel what is queued.',
  },
  session_end_refused: {
    status: 409,
    domain: 'sessions',
    detail: 'Session {session_id} cannot be ended: {reason}.',
    action: 'Undo what keeps it first.',
  },
  blank_scope_entry: {
    status: 400,
    domain: 'sessions',
    detail: 'An entry of the scope is blank.',
    action: 'Leave it out, or name what it stands for.',
  },
  reply_targets_needed: {
    status: 400,
    domain: 'sessions',
    detail:
      'The operator contact of session {session_id} lets the model notify, which needs a reply target that can ' +
      'be delivered to.',
    action: 'Set reply targets before allow_notify; to clear them, turn allow_notify off first.',
  },
  operator_contact_off: {
    status: 409,
    domain: 'sessions',
    detail: 'The operator of this session cannot be {what} by a model.',
    action: 'Go on without, or say in your answer what they should know.',
  },
  operator_unreachable: {
    status: 409,
    domain: 'sessions',
    detail: 'No reply target of this session can be delivered to.',
    action: 'Go on without, or say in your answer what they should know.',
  },
  operator_notice_blank: { status: 400, domain: 'sessions', detail: 'The message is blank.', action: 'Say something.' },
  operator_contact_unsafe: {
    status: 400,
    domain: 'sessions',
    detail: 'The field {field} is shown to models and must not hold {what}.',
    action: 'Describe the person in plain words; where notices go is set with reply targets.',
  },
})
