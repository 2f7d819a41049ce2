import {
  array,
  defineRoute,
  doc,
  integer,
  jsonReply,
  named,
  object,
  optional,
  string,
  number,
  timestamp,
  type Infer,
  type Route,
} from '../../../core/plugin.js'
import type { ModelProvider, ModelRoute } from './contract.js'

/** Models of a route that are not asked for a while. */
export const heldModels = array(
  object({ model: string(), until_ms: doc(timestamp(), 'When it is asked again, Unix ms.') }),
)

const RoutePaceView = object({
  route_id: doc(string(), 'Id of the model route.'),
  waiting_calls: doc(integer({ min: 0 }), 'Calls that are held back now, as the server asked for.'),
  held: doc(heldModels, 'Models that are not asked now.'),
  limits: doc(
    array(
      object({
        model: string(),
        of: doc(string(), 'What is limited, in the words of the server, such as `requests`.'),
        remaining: number(),
        resets_at_ms: optional(doc(timestamp(), 'When it is whole again, as far as calls wait for it, Unix ms.')),
      }),
    ),
    'What the server said of its limits last.',
  ),
})

const ModelProviderView = named(
  'ModelProviderView',
  object({
    provider: doc(string(), 'Its name, which routes have as `driver`.'),
    summary: string(),
    default_model: optional(doc(string(), 'Absent if a route must name one.')),
    secrets_of: doc(array(string()), 'Whose stored secrets are its keys, beside generic ones.'),
    key_variables: doc(array(string()), 'Variables in which people keep its key.'),
    local_servers: doc(
      array(object({ route_id: string(), name: string(), base_url: string() })),
      'Servers that people run themselves, where they usually are.',
    ),
    routes: doc(array(RoutePaceView), 'Routes to it, and how far their servers let them go.'),
  }),
)

const paceOf = ({ route_id, pace }: ModelRoute): Infer<typeof RoutePaceView> => {
  const { waiting = 0, held = [], limits = [] } = pace?.() ?? {}
  return { route_id, waiting_calls: waiting, held: [...held], limits: [...limits] }
}

const viewOf = (provider: ModelProvider, routes: readonly ModelRoute[]): Infer<typeof ModelProviderView> => ({
  provider: provider.id,
  summary: provider.summary,
  ...(provider.default_model !== undefined && { default_model: provider.default_model }),
  secrets_of: [...(provider.secrets_of ?? [])],
  key_variables: [...(provider.key_variables ?? [])],
  local_servers: [...(provider.local_servers ?? [])],
  routes: routes.filter((route) => route.provider === provider.id).map(paceOf),
})

export const providersRoute = (providers: () => readonly ModelProvider[], routes: () => readonly ModelRoute[]): Route =>
  defineRoute({
    id: 'runtime.providers',
    method: 'GET',
    path: '/v1/runtime/providers',
    summary:
      'Providers that model routes may have, where people keep what they need, and what limits their servers tell.',
    access: 'read',
    reply: jsonReply(array(ModelProviderView)),
    handler: () => providers().map((provider) => viewOf(provider, routes())),
  })
