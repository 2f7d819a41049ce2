import type { ActiveModel, Configured } from './active-model.js'
import { modelErrors, unknownRoute } from './errors.js'
import type { ModelRoute, Models } from './contract.js'

export interface ModelsParts {
  readonly configured: Configured
  /** The route that runs without a wish of their own use, and its model, as operators chose them. */
  readonly chosen: () => ActiveModel
}

/** The service over the configured routes: the active one has the model that operators chose. */
export const createModels = ({ configured, chosen }: ModelsParts): Models => {
  let shown: { readonly of: ActiveModel; readonly from: unknown; readonly routes: readonly ModelRoute[] } | undefined
  /** What was chosen may be gone from the file since. */
  const active = (): ActiveModel => {
    const choice = chosen()
    return configured.routes().some(({ route_id }) => route_id === choice.route_id) ? choice : configured.active()
  }
  const list = (): readonly ModelRoute[] => {
    const [of, from] = [active(), configured.routes()]
    if (shown?.of !== of || shown.from !== from) shown = { of, from, routes: from.map((route) => withModel(route, of)) }
    return shown.routes
  }
  const find = (route_id: string): ModelRoute | undefined => list().find((route) => route.route_id === route_id)
  const ready = (route_id: string = active().route_id): ModelRoute => {
    const route = find(route_id)
    if (route === undefined) throw unknownRoute(route_id, list())
    const readiness = route.connection.readiness()
    if (readiness.state === 'error')
      throw modelErrors.route_not_ready({ details: { route_id, reason: readiness.message } })
    return route
  }
  return {
    file: configured.file,
    get default_route() {
      return active().route_id
    },
    list,
    find,
    ready,
  }
}

const withModel = (route: ModelRoute, { route_id, model }: ActiveModel): ModelRoute =>
  route.route_id === route_id && route.model !== model ? { ...route, model } : route
