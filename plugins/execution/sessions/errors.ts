import { defineErrors } from '../../../core/plugin.js'

export const sessionErrors = defineErrors({
  invalid_session_id: {
    status: 400,
    domain: 'sessions',
    detail: 'A session id must not be blank, "." or "..", and must hold no slash, backslash or control character.',
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
    action:
      'Wait until it is idle, or end what it has: answer what is asked, interrupt its run, cancel what is queued.',
  },
  session_end_refused: {
    status: 409,
    domain: 'sessions',
    detail: 'Session {session_id} cannot be ended: {reason}.',
    action: 'Undo what keeps it first; where that is work, wait for it or cancel its runs, which GET /v1/runs lists.',
  },
  blank_scope_entry: {
    status: 400,
    domain: 'sessions',
    detail: 'An entry of the scope is blank.',
    action: 'Leave it out, or name what it stands for.',
  },
  tool_overrides_invalid: {
    status: 400,
    domain: 'sessions',
    detail: 'The tool overrides name what cannot be turned off or on.',
    action: 'See errors; POST /v1/runtime/permissions/matrix has the names of all tools.',
  },
  route_not_allowed: {
    status: 400,
    domain: 'routes',
    detail: 'The credential scope of the session does not allow the model route {route_id}.',
    action: 'Use another route, or change the scope with PUT /v1/sessions/{session_id}/credential-scope.',
  },
  persona_unbindable: {
    status: 400,
    domain: 'personas',
    detail: 'The persona {persona_id} cannot be bound as it is: {what}.',
    action: 'Bring the skill back, or change default_skills with PUT /v1/personas/{persona_id}.',
  },
  persona_not_found: {
    status: 404,
    domain: 'personas',
    detail: 'There is no persona {persona_id}.',
    action: 'List the personas with GET /v1/personas, or create one.',
  },
})
