/** How the daemon is set up now. Contract 1, "Runtime views"; reference 1, 6.7. */
import { array, defineEvent, doc, enums, integer, named, object, optional, string } from '../../../core/plugin.js'
import type { EventSpec, Infer } from '../../../core/plugin.js'
import { permissionModes, sandboxes } from '../../execution/tools/contract.js'
import { routeCapabilityFields } from '../../execution/models/contract.js'

/** The limits of tool calls. Bytes and milliseconds; reference 1, 6.7 "Tool limits". */
export const ToolLimitsView = named('ToolLimits', object({
  max_input_bytes: integer({ min: 1 }),
  max_output_bytes: integer({ min: 1 }),
  max_result_envelope_bytes: integer({ min: 1 }),
  max_timeout_ms: integer({ min: 1 }),
  max_parallel_tools: integer({ min: 1 }),
  max_calls_per_turn: integer({ min: 1 }),
  max_cumulative_output_bytes: integer({ min: 1 }),
  max_cumulative_result_envelope_bytes: integer({ min: 1 }),
  max_sandbox: enums(sandboxes),
}))

const RouteView = named('RuntimeRouteView', object({
  route_id: string(),
  provider: string(),
  model: doc(string(), 'Empty if none is named and the provider has no default.'),
  auth_ref: optional(string()),
  ...routeCapabilityFields,
}))

const RouteDiagnostic = named('RouteDiagnostic', object({
  severity: enums(['info', 'warning', 'error']),
  code: string(),
  route_id: optional(string()),
  message: string(),
}))

/** `RuntimeSettingsView`: what `GET /v1/runtime` answers. Members of later plugins are absent. */
export const RuntimeSettingsView = named('RuntimeSettingsView', object({
  default_route: string(),
  route_id: doc(string(), 'The route that runs without a wish of their own use.'),
  provider: string(),
  model: string(),
  routes: array(RouteView),
  route_diagnostics: doc(array(RouteDiagnostic), 'Routes that are not entirely ready.'),
  permission_mode: enums(permissionModes),
  tool_runtime_limits: ToolLimitsView,
  workspace_root: string(),
  state_root: string(),
}))
/** The value of `RuntimeSettingsView`. */
export type RuntimeSettings = Infer<typeof RuntimeSettingsView>

/** Published after a change of the runtime settings, on the unfiltered stream only. Contract 1, "Runtime". */
export const runtimeUpdated: EventSpec<{ runtime: RuntimeSettings }> = defineEvent({
  name: 'runtime_updated',
  summary: 'The runtime settings changed.',
  data: object({ runtime: RuntimeSettingsView }),
})
