import { createCount, definePlugin, Metrics } from '../../../core/plugin.js'
import { Outbox } from '../../execution/deliveries/contract.js'
import { Interception } from '../../execution/interception/contract.js'
import { ReservedKeys, Runs } from '../../execution/runs/contract.js'
import { Sessions } from '../../execution/sessions/contract.js'
import { DeliveryProgress, Ingress } from '../registry/contract.js'
import { ingressConfig } from './config.js'
import { createProgress, declareProgress, forgetSettled } from './progress.js'
import { createRates } from './rates/rates.js'
import { createIngress } from './receive.js'
import { ingressKeys } from './reserved.js'

export default definePlugin({
  id: 'connector-ingress',
  version: '1.0.0',
  api: 1,
  summary: 'Lets the events of connectors in: one run for each, however often it comes.',
  needs: { runs: Runs, sessions: Sessions, outbox: Outbox },
  wants: { interception: Interception },
  provides: [Ingress, DeliveryProgress],
  config: ingressConfig,
  register(ctx, { runs, sessions, outbox, interception }) {
    const { state, clock } = ctx
    const counted = createCount({
      name: 'service_connector_ingress_total',
      help: 'Events of connectors, by kind and by what became of them.',
      labels: ['kind', 'outcome'],
    })
    const rates = createRates(clock, ctx.config.events_per_second)
    ctx.provide(Ingress, createIngress({ state, clock, runs, sessions, interception, rates, counted }))
    const progress = declareProgress(state)
    ctx.provide(DeliveryProgress, createProgress(progress, outbox))
    ctx.contribute(ReservedKeys, ...ingressKeys)
    ctx.contribute(Metrics, counted.metric)
    ctx.onStart(() => forgetSettled(progress, outbox))
  },
})
