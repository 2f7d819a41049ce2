import { defineErrors } from '../../../core/plugin.js'

/** Problems of changes of the limits of tool calls (runtime-33). */
export const limitErrors = defineErrors({
  invalid_tool_runtime_limits: {
    status: 400,
    domain: 'runtime',
    detail: 'These limits of tool calls cannot hold.',
    action: 'Give whole numbers above 0, named as GET /v1/runtime/tool-limits names them.',
  },
})
