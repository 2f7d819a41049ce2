import { defineErrors } from '../../../core/plugin.js'

/** Problems of the permission check (tools-9). */
export const permissionErrors = defineErrors({
  session_not_found: {
    status: 404,
    detail: 'There is no session {session_id}.',
    action: 'List sessions with GET /v1/sessions, or leave session_id out.',
  },
})
