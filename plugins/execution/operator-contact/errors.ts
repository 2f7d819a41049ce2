import { defineErrors } from '../../../core/plugin.js'

export const contactErrors = defineErrors({
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
  operator_notice_stays: {
    status: 409,
    domain: 'sessions',
    detail: 'This run was given what must not leave the daemon, and a notice would take it along.',
    action: 'Say in your answer what the operator should know.',
  },
  operator_notice_blank: { status: 400, domain: 'sessions', detail: 'The message is blank.', action: 'Say something.' },
  operator_contact_unsafe: {
    status: 400,
    domain: 'sessions',
    detail: 'The field {field} is shown to models and must not hold {what}.',
    action: 'Describe the person in plain words; where notices go is set with reply targets.',
  },
})
