import { type HostView, type Json, type JsonObject, type Log } from '../../../core/plugin.js'
import type { ModelRoute, Models } from '../../execution/models/contract.js'
import type { ToolRegistry } from '../../execution/tools/contract.js'
import type { RuntimeSection, RuntimeSettings } from './contract.js'

export interface Parts {
  readonly models: Models
  readonly tools: ToolRegistry
  readonly host: HostView
}

export const collectSettings = ({ models, tools, host }: Parts): RuntimeSettings => {
  const routes = models.list()
  const active = routes.find(({ route_id }) => route_id === models.default_route)
  return {
    default_route: models.default_route,
    route_id: models.default_route,
    provider: active?.provider ?? '',
    model: active?.model ?? '',
    routes: routes.map(routeView),
    route_diagnostics: routes.flatMap(diagnose),
    permission_mode: tools.permission_mode,
    tool_runtime_limits: { ...tools.limits },
    workspace_root: tools.workspace,
    state_root: host.stateRoot,
  }
}

/** A section that throws is left out and told, and takes no other with it. */
export const collectSections = (sections: readonly RuntimeSection[], log: Log): JsonObject => {
  const members: Record<string, Json> = {}
  for (const { name, collect } of sections) {
    try {
      members[name] = collect()
    } catch (error) {
      log.error('a section of the runtime failed', { section: name, error })
    }
  }
  return members
}

const routeView = ({
  route_id,
  provider,
  model,
  auth_ref,
  capabilities,
}: ModelRoute): RuntimeSettings['routes'][number] => ({
  route_id,
  provider,
  model,
  ...(auth_ref !== undefined && { auth_ref }),
  ...capabilities,
})

const diagnose = ({ route_id, connection }: ModelRoute): RuntimeSettings['route_diagnostics'] => {
  const { state, code, message } = connection.readiness()
  return state === 'ok' ? [] : [{ severity: state, code, route_id, message }]
}
