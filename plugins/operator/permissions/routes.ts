import { defineRoute, doc, jsonObject, jsonReply, object, optional, string, type Route } from '../../../core/plugin.js'
import type { ToolRegistry } from '../../execution/tools/contract.js'
import { permissionErrors } from './errors.js'
import { PermissionExplanation, explain } from './explanation.js'

const CheckBody = object({
  tool_name: doc(string({ min: 1, max: 200 }), 'Name of the tool.'),
  tool_call_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the tool call.')),
  session_id: optional(doc(string({ min: 1, max: 200 }), "Decides by this session's mode and rules.")),
  input: optional(doc(jsonObject(), 'The input the tool would get. Rules look at names only.')),
})

export const permissionRoute = (registry: ToolRegistry, sessionExists: (session_id: string) => boolean): Route =>
  defineRoute({
    id: 'permissions.check',
    method: 'POST',
    path: '/v1/runtime/permissions/check',
    summary: 'Explains whether a tool may run, without running, asking or recording anything.',
    access: 'admin',
    body: CheckBody,
    reply: jsonReply(PermissionExplanation),
    problems: [permissionErrors.session_not_found],
    example: { body: { tool_name: 'bash', input: { command: 'ls' } } },
    handler: ({ body: { tool_name, tool_call_id, session_id } }) => {
      if (session_id !== undefined && !sessionExists(session_id))
        throw permissionErrors.session_not_found({ details: { session_id } })
      return explain(
        tool_name,
        tool_call_id,
        registry.decide({ tool_name, ...(session_id !== undefined && { session_id }) }),
      )
    },
  })
