import {
  array,
  defineRoute,
  doc,
  jsonReply,
  named,
  object,
  optional,
  string,
  type Infer,
  type Route,
} from '../../../core/plugin.js'
import type { ModelProvider } from './contract.js'

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
  }),
)

const viewOf = (provider: ModelProvider): Infer<typeof ModelProviderView> => ({
  provider: provider.id,
  summary: provider.summary,
  ...(provider.default_model !== undefined && { default_model: provider.default_model }),
  secrets_of: [...(provider.secrets_of ?? [])],
  key_variables: [...(provider.key_variables ?? [])],
  local_servers: [...(provider.local_servers ?? [])],
})

export const providersRoute = (providers: () => readonly ModelProvider[]): Route =>
  defineRoute({
    id: 'runtime.providers',
    method: 'GET',
    path: '/v1/runtime/providers',
    summary: 'Providers that model routes may have, and where people keep what they need.',
    access: 'read',
    reply: jsonReply(array(ModelProviderView)),
    handler: () => providers().map(viewOf),
  })
