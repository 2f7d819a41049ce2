/** What `/v1/status` says about the routes (models-13). */
import {
  doc,
  array,
  boolean,
  enums,
  integer,
  object,
  optional,
  string,
  type HealthCheck,
  type JsonObject,
  type Warning,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { toldReadiness } from './bounds/taken-readiness.js'
import { heldModels } from './routes.js'
import { routeCapabilityFields, type ModelRoute, type Models, type Readiness } from './contract.js'

const routeReadiness = object({
  route_id: doc(string(), 'Id of the model route.'),
  provider: doc(string(), 'The provider of the model.'),
  model: string(),
  capabilities: object(routeCapabilityFields),
  active: boolean(),
  auth_ref: optional(string()),
  state: enums(['ok', 'warning', 'error']),
  code: doc(string(), 'A stable code.'),
  message: string(),
  action: optional(string()),
  held: optional(doc(heldModels, 'Models that are not asked now, as the server asked for; absent where all are.')),
  waiting_calls: optional(doc(integer({ min: 1 }), 'Calls that are held back for that now.')),
})

const providerReadiness = object({
  route_count: integer({ min: 0 }),
  ready_route_count: integer({ min: 0 }),
  warning_route_count: integer({ min: 0 }),
  error_route_count: integer({ min: 0 }),
  active_route_ready: boolean(),
  routes: array(routeReadiness),
})

const describe = (models: Models, route: ModelRoute) => {
  const { connection, capabilities, route_id, provider, model, auth_ref, pace } = route
  const active = route_id === models.default_route
  const { held = [], waiting = 0 } = pace?.() ?? {}
  return {
    route_id,
    provider,
    model,
    capabilities: { ...capabilities },
    active,
    ...(auth_ref !== undefined && { auth_ref }),
    ...toldReadiness(connection.readiness()),
    ...(held.length > 0 && { held: held.map((one) => ({ ...one })) }),
    ...(waiting > 0 && { waiting_calls: waiting }),
  }
}

const collect = (models: Models): JsonObject => {
  const routes = models.list().map((route) => describe(models, route))
  const count = (state: string): number => routes.filter((route) => route.state === state).length
  return {
    route_count: routes.length,
    ready_route_count: count('ok'),
    warning_route_count: count('warning'),
    error_route_count: count('error'),
    active_route_ready: routes.some(({ active, state }) => active && state !== 'error'),
    routes,
  }
}

export const readinessSection = (models: Models): StatusSection => ({
  name: 'provider_readiness',
  withoutState: true,
  schema: providerReadiness,
  collect: () => collect(models),
})

/** A route in error that is not the default stops nothing but the runs that name it. */
const warningOf = (active: boolean, { state, message, action }: Readiness, route_id: string): Warning[] => {
  if (state === 'ok') return []
  const told = { related_id: route_id, ...(action !== undefined && { action }) }
  if (state === 'error' && active)
    return [{ severity: 'error', code: 'provider_active_route_not_ready', message, ...told }]
  return state === 'error'
    ? [
        {
          severity: 'warning',
          code: 'provider_route_not_ready',
          message: `Runs that name the model route ${route_id} are refused: ${message}`,
          ...told,
        },
      ]
    : [
        {
          severity: 'warning',
          code: 'provider_route_failing',
          message: `The model route ${route_id} needs attention: ${message}`,
          ...told,
        },
      ]
}

/**
 * Routes in error, and those whose last call failed (models-12, models-13). Of what is told elsewhere as an entry that
 * is wrong, the default route alone is told here too.
 */
export const activeRouteCheck = (models: Models, isTold: (route_id: string) => boolean): HealthCheck => ({
  id: 'provider-active-route',
  check: () =>
    models.list().flatMap(({ route_id, connection }) => {
      const isDefault = route_id === models.default_route
      return !isDefault && isTold(route_id) ? [] : warningOf(isDefault, connection.readiness(), route_id)
    }),
})
