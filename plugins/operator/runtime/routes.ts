import { defineRoute, jsonReply, type JsonObject, type Route, type StructOf } from '../../../core/plugin.js'
import { ToolLimitsView, type RuntimeSettings } from './contract.js'

export interface RuntimeParts {
  readonly schema: StructOf<JsonObject>
  readonly collect: () => JsonObject
  readonly settings: () => RuntimeSettings
}

export const runtimeRoutes = ({ schema, collect, settings }: RuntimeParts): readonly Route[] => [
  defineRoute({
    id: 'runtime.get',
    method: 'GET',
    path: '/v1/runtime',
    summary: 'How the daemon is set up: model routes, permission mode, limits and roots.',
    access: 'read',
    reply: jsonReply(schema),
    handler: collect,
  }),
  defineRoute({
    id: 'runtime.tool_limits',
    method: 'GET',
    path: '/v1/runtime/tool-limits',
    summary: 'The limits of tool calls.',
    access: 'read',
    reply: jsonReply(ToolLimitsView),
    handler: () => settings().tool_runtime_limits,
  }),
]
