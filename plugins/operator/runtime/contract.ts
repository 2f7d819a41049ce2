/** How the daemon is set up now (runtime-3). */
import {
  array,
  defineEvent,
  definePoint,
  hasMembers,
  doc,
  enums,
  integer,
  lazy,
  named,
  object,
  open,
  optional,
  string,
  type AnyStruct,
  type EventSpec,
  type Infer,
  type Json,
  type JsonObject,
  type Point,
  type StructOf,
} from '../../../core/plugin.js'
import { permissionModes, sandboxes } from '../../execution/tools/contract.js'
import { routeCapabilityFields } from '../../execution/models/contract.js'

/** The limits of tool calls. Bytes and milliseconds; tools-18. */
export const ToolLimitsView = named(
  'ToolLimits',
  object({
    max_input_bytes: doc(integer({ min: 1 }), 'Bytes of a tool input at most.'),
    max_output_bytes: doc(integer({ min: 1 }), 'Bytes of a tool output at most.'),
    max_result_envelope_bytes: integer({ min: 1 }),
    max_timeout_ms: doc(integer({ min: 1 }), 'Milliseconds that a call may take at most.'),
    max_parallel_tools: doc(integer({ min: 1 }), 'Calls at the same time at most.'),
    max_calls_per_turn: doc(integer({ min: 1 }), 'Calls of one turn at most.'),
    max_cumulative_output_bytes: integer({ min: 1 }),
    max_cumulative_result_envelope_bytes: integer({ min: 1 }),
    max_sandbox: enums(sandboxes),
  }),
)

const RouteView = named(
  'RuntimeRouteView',
  object({
    route_id: doc(string(), 'Id of the model route.'),
    provider: doc(string(), 'The provider of the model.'),
    model: doc(string(), 'Empty if none is named and the provider has no default.'),
    auth_ref: optional(string()),
    ...routeCapabilityFields,
  }),
)

const RouteDiagnostic = named(
  'RouteDiagnostic',
  object({
    severity: doc(enums(['info', 'warning', 'error']), 'How serious it is.'),
    code: doc(string(), 'A stable code.'),
    route_id: optional(doc(string(), 'Id of the model route.')),
    message: string(),
  }),
)

const ownFields = {
  default_route: string(),
  route_id: doc(string(), 'The route that runs without a wish of their own use.'),
  provider: doc(string(), 'The provider of the model.'),
  model: string(),
  routes: array(RouteView),
  route_diagnostics: doc(array(RouteDiagnostic), 'Routes that are not entirely ready.'),
  permission_mode: enums(permissionModes),
  tool_runtime_limits: ToolLimitsView,
  workspace_root: string(),
  state_root: string(),
}
/** The members of `GET /v1/runtime` that do not come from sections. */
export const RuntimeSettings = open(ownFields)
/** The value form of `RuntimeSettings`. */
export type RuntimeSettings = Infer<typeof RuntimeSettings>

/** One further member of `GET /v1/runtime`. */
export interface RuntimeSection {
  /** The member's name, such as `run_memory_policy`; a name of `RuntimeSettings` is ignored. */
  readonly name: string
  readonly schema: AnyStruct
  /** Must be fast and must not do I/O. If it throws, the member is left out and its plugin is charged. */
  readonly collect: () => Json
}
/** Members of `GET /v1/runtime` by name, contributed by the plugins that own them. */
export const RuntimeSections: Point<RuntimeSection> = definePoint<RuntimeSection>(
  'runtime-sections@1',
  (section) => section.name,
  hasMembers('a section of the runtime', { name: 'text', collect: 'function' }),
)

/** `RuntimeSettingsView`: what `GET /v1/runtime` answers. Sections are known only when every plugin has registered. */
export const runtimeSettingsView = (sections: () => readonly RuntimeSection[]): StructOf<JsonObject> =>
  lazy('RuntimeSettingsView', () => {
    const contributed: Record<string, AnyStruct> = Object.fromEntries(
      sections().map(({ name, schema }) => [name, optional(schema)]),
    )
    return object<Record<string, AnyStruct>>({ ...contributed, ...ownFields })
  })

/** Published after a change of the runtime settings, on the unfiltered stream only (events-16). */
export const runtimeUpdated: EventSpec<{ runtime: RuntimeSettings }> = defineEvent({
  name: 'runtime_updated',
  summary: 'The runtime settings changed.',
  data: object({ runtime: RuntimeSettings }),
})
