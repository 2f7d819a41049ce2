import { defineErrors } from '../../../core/plugin.js'

/** Problems of the permission check (tools-9) and of changes of limits. */
export const permissionErrors = defineErrors({
  session_not_found: {
    status: 404,
    detail: 'There is no session {session_id}.',
    action: 'List sessions with GET /v1/sessions, or leave session_id out.',
  },
  invalid_tool_runtime_limits: {
    status: 400,
    domain: 'runtime',
    detail: 'These limits of tool calls cannot hold.',
    action: 'Give whole numbers above 0, named as GET /v1/runtime/tool-limits names them.',
  },
})
