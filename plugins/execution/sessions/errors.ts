import { defineErrors } from '../../../core/plugin.js'

export const sessionErrors = defineErrors({
  invalid_session_id: {
    status: 400, domain: 'sessions', detail: 'A session id must not be empty, "." or "..", and must hold no slash, backslash or control character.',
    action: 'Choose another id, or leave it out to get one.',
  },
  session_not_found: {
    status: 404, domain: 'sessions', detail: 'There is no session {session_id}.',
    action: 'List the sessions, or create one with POST /v1/sessions.',
  },
  session_conflict: {
    status: 409, domain: 'sessions', detail: 'Session {session_id} exists with another {field}.',
    action: 'Leave the field out to use the session as it is, or choose another session id.',
  },
})
