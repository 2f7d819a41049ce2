import { defineRoute, jsonReply } from '../../../core/plugin.js'
import type { Route } from '../../../core/plugin.js'
import { RuntimeSettingsView, ToolLimitsView } from './contract.js'
import type { RuntimeSettings } from './contract.js'

export const runtimeRoutes = (settings: () => RuntimeSettings): readonly Route[] => [
  defineRoute({
    id: 'runtime.get',
    method: 'GET',
    path: '/v1/runtime',
    summary: 'How the daemon is set up: model routes, permission mode, limits and roots.',
    access: 'read',
    reply: jsonReply(RuntimeSettingsView),
    handler: settings,
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
