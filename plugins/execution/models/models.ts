import { modelErrors } from './errors.js'
import type { ModelRoute, Models } from './contract.js'

/** The service over the configured routes. They are built on first use, when every provider is known. */
export const createModels = (default_route: string, build: () => readonly ModelRoute[]): Models => {
  let built: readonly ModelRoute[] | undefined
  const list = (): readonly ModelRoute[] => (built ??= build())
  const find = (route_id: string): ModelRoute | undefined => list().find((route) => route.route_id === route_id)
  const ready = (route_id: string = default_route): ModelRoute => {
    const route = find(route_id)
    if (route === undefined)
      throw modelErrors.bad_request({
        details: { route_id },
        errors: [{ path: 'body.provider', rule: 'must be a route_id of this daemon' }],
      })
    const { state, message } = route.connection.readiness()
    if (state === 'error') throw modelErrors.route_not_ready({ details: { route_id, reason: message } })
    return route
  }
  return { default_route, list, find, ready }
}
