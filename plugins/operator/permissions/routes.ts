import {
  array,
  createPause,
  defineRoute,
  doc,
  enums,
  jsonObject,
  jsonReply,
  object,
  optional,
  string,
  type Infer,
  type Problem,
  type Route,
} from '../../../core/plugin.js'
import { foreseenFault } from '../../execution/engine/contract.js'
import {
  permissionModes,
  type PermissionDecision,
  type PermissionQuestion,
  type ToolRegistry,
} from '../../execution/tools/contract.js'
import { permissionErrors } from './errors.js'
import { PermissionExplanation, explain, type ForeseenDecision } from './explanation.js'

const ofSession = optional(doc(string({ min: 1, max: 200 }), "Decides by this session's mode and rules."))

const CheckBody = object({
  tool_name: doc(string({ min: 1, max: 200 }), 'Name of the tool.'),
  tool_call_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the tool call.')),
  session_id: ofSession,
  mode_override: optional(doc(enums(permissionModes), 'Decides as if this mode were in force.')),
  input: optional(doc(jsonObject(), 'The input the tool would get. Rules look at names only, grants at the input.')),
})

const Matrix = object({
  session_id: optional(string()),
  modes: array(object({ mode: enums(permissionModes), tools: array(PermissionExplanation) })),
})

/** Foreign tools can be thousands: so many are explained before others are served. */
const atOnce = 100

/** Rules may speak of tools that come later, so what they decide is shown all the same. */
const foreseen = (decision: PermissionDecision, { code, message }: Problem): ForeseenDecision => ({
  ...decision,
  reason: [
    message,
    `A call of it now fails with ${code}, whatever is decided.`,
    ...(decision.reason === undefined ? [] : [`Otherwise: ${decision.reason}`]),
  ].join(' '),
  fails_with: code,
})

export interface PermissionParts {
  readonly registry: ToolRegistry
  readonly sessionExists: (session_id: string) => boolean
}

export const permissionRoutes = ({ registry, sessionExists }: PermissionParts): readonly Route[] => {
  const known = (session_id: string | undefined): void => {
    if (session_id !== undefined && !sessionExists(session_id))
      throw permissionErrors.session_not_found({ details: { session_id } })
  }
  const explained = (question: PermissionQuestion, tool_call_id?: string): PermissionExplanation => {
    const decision = registry.decide(question)
    const fault = foreseenFault(registry, question)
    return explain(question.tool_name, tool_call_id, fault === undefined ? decision : foreseen(decision, fault))
  }
  return [
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
      handler: ({ body: { tool_name, tool_call_id, session_id, mode_override, input } }) => {
        known(session_id)
        return explained({ tool_name, input, session_id, mode: mode_override }, tool_call_id)
      },
    }),
    defineRoute({
      id: 'permissions.matrix',
      method: 'POST',
      path: '/v1/runtime/permissions/matrix',
      summary: 'Explains for each permission mode which tools may run in it, without running or recording anything.',
      access: 'admin',
      body: object({ session_id: ofSession }),
      bodyOptional: true,
      reply: jsonReply(Matrix),
      problems: [permissionErrors.session_not_found],
      example: { body: {} },
      handler: async ({ body: { session_id } }) => {
        known(session_id)
        const names = registry
          .list(session_id)
          .map(({ name }) => name)
          .toSorted()
        const pause = createPause(atOnce)
        const modes: Infer<typeof Matrix>['modes'] = []
        for (const mode of permissionModes) {
          const tools: PermissionExplanation[] = []
          for (const tool_name of names) {
            await pause()
            tools.push(explained({ tool_name, session_id, mode }))
          }
          modes.push({ mode, tools })
        }
        return { ...(session_id !== undefined && { session_id }), modes }
      },
    }),
  ]
}
