/** The route that runs without a wish of their own use, and its model: operators change both together. */
import { commandLine, doc, object, optional, string, type Infer } from '../../../core/plugin.js'
import { defineSetting } from '../../operator/runtime/contract.js'
import type { ModelRoute } from './contract.js'
import { modelErrors, unknownRoute } from './errors.js'
import { checkFamily } from './family.js'

const ActiveModel = object({ route_id: string(), model: string() })
export type ActiveModel = Infer<typeof ActiveModel>

/** What the configuration says: its routes and the active one, known when every provider is. Both always the same. */
export interface Configured {
  readonly routes: () => readonly ModelRoute[]
  readonly active: () => ActiveModel
  /** How the file of routes is called. */
  readonly file: string
}

export const activeModelSetting = ({ routes, active }: Omit<Configured, 'file'>) => {
  const routeOf = (route_id: string): ModelRoute | undefined => routes().find((route) => route.route_id === route_id)
  return defineSetting({
    name: 'model',
    schema: ActiveModel,
    initial: active,
    setBy: ({ route_id, model }) =>
      model === '' ? undefined : commandLine('runtime set-model', `${route_id}/${model}`),
    check: ({ route_id, model }) => {
      const route = routeOf(route_id)
      if (route === undefined) throw unknownRoute(route_id, routes())
      checkFamily(route, model)
    },
    shown: {
      fields: {
        route_id: doc(string(), 'The route that runs without a wish of their own use.'),
        provider: doc(string(), 'The provider of its model.'),
        model: doc(string(), 'Empty if none is named and the provider has no default.'),
      },
      of: ({ route_id, model }) => ({ route_id, provider: routeOf(route_id)?.provider ?? '', model }),
    },
    change: {
      path: 'model',
      summary: 'Sets the model that runs without a wish of their own use, and its route.',
      fields: {
        model: doc(string({ min: 1, max: 200, pattern: '^\\S+$' }), 'Its name, as the provider of the route knows it.'),
        provider: optional(doc(string({ min: 1, max: 200 }), 'The route_id; the route stays as it is when absent.')),
        route_id: optional(doc(string({ min: 1, max: 200 }), 'The same as provider.')),
      },
      value: ({ model, provider, route_id }, now) => {
        if (provider !== undefined && route_id !== undefined && provider !== route_id)
          throw modelErrors.route_ambiguous()
        const asked = provider ?? route_id
        // Here alone it is known under which name it was sent.
        if (asked !== undefined && routeOf(asked) === undefined)
          throw unknownRoute(asked, routes(), `body.${provider === undefined ? 'route_id' : 'provider'}`)
        return { route_id: asked ?? now.route_id, model }
      },
      problems: [modelErrors.bad_request, modelErrors.route_ambiguous, modelErrors.model_family_mismatch],
      example: { model: 'demo' },
    },
  })
}
