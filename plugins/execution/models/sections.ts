import { array, doc, enums, named, object, optional, string } from '../../../core/plugin.js'
import type { RuntimeSection } from '../../operator/runtime/contract.js'
import type { Configured } from './active-model.js'
import { routeCapabilityFields, type ModelRoute, type Models } from './contract.js'

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

/** What `GET /v1/runtime` says of the routes, beside the active one. */
export const routeSections = (models: Models, configured: Configured): readonly RuntimeSection[] => [
  {
    name: 'default_route',
    schema: doc(string(), 'The route that the configuration makes the active one.'),
    collect: () => configured.active().route_id,
  },
  {
    name: 'routes_file',
    schema: doc(string(), 'The file that routes are read from: a path, or `config/routes.toml` of the state root.'),
    collect: () => models.file,
  },
  { name: 'routes', schema: array(RouteView), collect: () => models.list().map(routeView) },
  {
    name: 'route_diagnostics',
    schema: doc(array(RouteDiagnostic), 'Routes that are not entirely ready.'),
    collect: () => models.list().flatMap(diagnose),
  },
]

const routeView = ({ route_id, provider, model, auth_ref, capabilities }: ModelRoute) => ({
  route_id,
  provider,
  model,
  ...(auth_ref !== undefined && { auth_ref }),
  ...capabilities,
})

const diagnose = ({ route_id, connection }: ModelRoute) => {
  const { state, code, message } = connection.readiness()
  return state === 'ok' ? [] : [{ severity: state, code, route_id, message }]
}
