import { Metrics, defaulted, definePlugin, doc, integer, object, optional, string } from '../../../core/plugin.js'
import { StatusSections } from '../../operator/status/contract.js'
import { SecretReferences, SecretSlots } from '../../operator/secrets/contract.js'
import { RuntimeSections, Settings, RuntimeSettings } from '../../operator/runtime/contract.js'
import { activeModelSetting } from './active-model.js'
import { createHolds } from './bounds/kept-holds.js'
import { createPaceMetrics } from './pace-metrics.js'
import { ModelProviders, Models, RouteBackends } from './contract.js'
import { configuredRoutes } from './configured-routes.js'
import { createModels } from './models.js'
import { routeList } from './file/route-list.js'
import { flagWords } from './file/route-words.js'
import { routeSections } from './sections.js'
import { providersRoute } from './routes.js'
import { activeRouteCheck, readinessSection } from './provider-readiness.js'

const config = object({
  provider: doc(
    defaulted(string({ min: 1, pattern: '^[^\\s/]+$' }), 'demo'),
    'Model provider of the default route; also the route_id.',
  ),
  base_url: doc(optional(string()), 'Where the provider answers, for providers that have no address of their own.'),
  default_route: doc(
    optional(string({ min: 1, max: 200 })),
    'Which route of config/routes.toml is the default one; it beats what the file says.',
  ),
  model: doc(optional(string()), 'Model of the default route; the default model of the provider when absent.'),
  api_key: doc(optional(string()), 'Key for the provider. It beats api_key_file.'),
  api_key_file: doc(optional(string()), 'File that holds the key for the provider.'),
  auth_ref: doc(optional(string()), 'Stored secret that is the key for the provider. It goes with no other key.'),
  context_window: doc(
    defaulted(integer({ min: 1_000, max: 100_000_000 }), 32_000),
    'Tokens that one call may have where neither its route nor its provider says.',
  ),
  idle_timeout_ms: doc(
    defaulted(integer({ min: 100, max: 86_400_000 }), 300_000),
    'Longest silence of a provider, milliseconds.',
  ),
})

export default definePlugin({
  id: 'models',
  version: '1.0.0',
  api: 1,
  summary: 'Model routes: which models runs can use and whether they are ready.',
  needs: { settings: Settings },
  wants: { slots: SecretSlots },
  provides: [Models],
  config,
  flags: {
    provider: 'provider',
    base_url: 'provider-base-url',
    default_route: 'default-route',
    model: 'model',
    api_key: 'api-key',
    api_key_file: 'api-key-file',
    auth_ref: 'auth-ref',
    context_window: 'context-window',
    idle_timeout_ms: 'provider-idle-timeout-ms',
  },
  register(ctx, { settings, slots }) {
    const providers = ctx.view(ModelProviders)
    const { default_route, context_window: usual_window, ...flags } = ctx.config
    const pace = createPaceMetrics(() => models.list())
    const configured = configuredRoutes({
      flagged: {
        ...flags,
        route_id: flags.provider,
        max_concurrent_calls: 0,
        usual_window,
        // A server of one's own may call its models as it likes.
        takesAny: flags.base_url !== undefined,
        abilities: {},
        own_models: {},
        vendor: {},
        vendor_env: {},
        words: flagWords,
      },
      default_route,
      list: ctx.list(routeList),
      providers,
      sources: {
        clock: ctx.clock,
        held: (route_id) => pace.held.add(1, route_id),
        holds: createHolds(ctx.state, ctx.log),
        secrets: ctx.secrets,
        slots,
        backends: ctx.view(RouteBackends),
      },
    })
    const active = activeModelSetting(configured)
    const models = createModels({ configured, chosen: () => settings.get(active) })
    ctx.provide(Models, models)
    ctx.routes(providersRoute(providers, models.list))
    ctx.contribute(Metrics, ...pace.metrics)
    ctx.contribute(RuntimeSettings, active)
    ctx.contribute(SecretReferences, {
      id: 'models',
      of: (ref) =>
        models
          .list()
          .flatMap(({ auth_ref, route_id }) => (auth_ref === ref ? [{ kind: 'model_route', id: route_id }] : [])),
    })
    ctx.contribute(RuntimeSections, ...routeSections(models, configured))
    ctx.contribute(StatusSections, readinessSection(models))
    ctx.health(activeRouteCheck(models))
    ctx.health(configured.health)
    ctx.onStart(() => {
      for (const { route_id, connection } of models.list()) {
        const { state, code, message } = connection.readiness()
        if (state !== 'ok') ctx.log.warn('model route is not ready', { route_id, state, code, message })
      }
    })
  },
})
