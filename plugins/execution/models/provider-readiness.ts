/** What `/v1/status` says about the routes. Reference 1, 6.7 `provider_readiness`. */
import {
  array,
  boolean,
  enums,
  integer,
  object,
  optional,
  string,
  type HealthCheck,
  type JsonObject,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { routeCapabilityFields, type ModelRoute, type Models } from './contract.js'

const routeReadiness = object({
  route_id: string(),
  provider: string(),
  model: string(),
  capabilities: object(routeCapabilityFields),
  active: boolean(),
  auth_ref: optional(string()),
  state: enums(['ok', 'warning', 'error']),
  code: string(),
  message: string(),
  action: optional(string()),
})

const providerReadiness = object({
  route_count: integer({ min: 0 }),
  ready_route_count: integer({ min: 0 }),
  warning_route_count: integer({ min: 0 }),
  error_route_count: integer({ min: 0 }),
  active_route_ready: boolean(),
  routes: array(routeReadiness),
})

const describe = (models: Models, { connection, capabilities, route_id, provider, model, auth_ref }: ModelRoute) => {
  const active = route_id === models.default_route
  return {
    route_id,
    provider,
    model,
    capabilities: { ...capabilities },
    active,
    ...(auth_ref !== undefined && { auth_ref }),
    ...connection.readiness(),
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
  schema: providerReadiness,
  collect: () => collect(models),
})

/** Contract 1, health warning `provider_active_route_not_ready`. */
export const activeRouteCheck = (models: Models): HealthCheck => ({
  id: 'provider-active-route',
  check: () => {
    const readiness = models.find(models.default_route)?.connection.readiness()
    if (readiness?.state !== 'error') return []
    const action = readiness.action !== undefined && { action: readiness.action }
    return [
      {
        severity: 'error',
        code: 'provider_active_route_not_ready',
        message: readiness.message,
        related_id: models.default_route,
        ...action,
      },
    ]
  },
})
