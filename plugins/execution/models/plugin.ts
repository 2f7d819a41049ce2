import { Metrics, blame, definePlugin } from '../../../core/plugin.js'
import { StatusSections } from '../../operator/status/contract.js'
import { SecretReferences, SecretSlots } from '../../operator/secrets/contract.js'
import { RuntimeSections, Settings, RuntimeSettings } from '../../operator/runtime/contract.js'
import { activeModelSetting } from './active-model.js'
import { createHolds } from './bounds/kept-holds.js'
import { toldReadiness } from './bounds/taken-readiness.js'
import { createPaceMetrics } from './pace-metrics.js'
import { ModelProviders, Models, RouteBackends } from './contract.js'
import { configuredRoutes } from './configured-routes.js'
import { createModels } from './models.js'
import { routeList } from './file/route-list.js'
import { config, flags } from './file/flags.js'
import { unusedFlags } from './file/unused-flags.js'
import { flagRoutes } from './flag-routes.js'
import { routeSections } from './sections.js'
import { providersRoute } from './routes.js'
import { activeRouteCheck, readinessSection } from './provider-readiness.js'

export default definePlugin({
  id: 'models',
  version: '1.0.0',
  api: 1,
  summary: 'Model routes: which models runs can use and whether they are ready.',
  needs: { settings: Settings },
  wants: { slots: SecretSlots },
  provides: [Models],
  config,
  flags,
  register(ctx, { settings, slots }) {
    const providers = ctx.view(ModelProviders)
    const [flagged, ...beside] = flagRoutes(ctx.config)
    let isAllHere = false
    const drivers = (): readonly string[] => (isAllHere ? providers().map(({ id }) => id) : [])
    const list = ctx.list(routeList(ctx.config.routes_file, drivers))
    const pace = createPaceMetrics(() => models.list())
    const configured = configuredRoutes({
      flagged,
      beside,
      default_route: ctx.config.default_route,
      list,
      providers,
      sources: {
        clock: ctx.clock,
        broke: (provider, member, wrong) =>
          ctx.log.error('a model provider breaks its contract', {
            provider: provider.id,
            where: `${member} of the model provider ${provider.id}`,
            error: blame(provider, wrong),
          }),
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
    ctx.health(activeRouteCheck(models, configured.isUnread))
    ctx.health(configured.health)
    ctx.health(unusedFlags(ctx.config, list))
    ctx.onStart(() => {
      isAllHere = true
      for (const { route_id, connection } of models.list()) {
        const { state, ...why } = toldReadiness(connection.readiness())
        if (state !== 'ok') ctx.log.warn('model route is not ready', { route_id, state, ...why })
      }
    })
  },
})
