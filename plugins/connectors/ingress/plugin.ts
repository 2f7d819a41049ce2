import { createCount, definePlugin, gauges, Metrics } from '../../../core/plugin.js'
import { DeliveryObservers, Outbox } from '../../execution/deliveries/contract.js'
import { Interception } from '../../execution/interception/contract.js'
import { ReservedKeys, Runs } from '../../execution/runs/contract.js'
import { SessionHolds, Sessions } from '../../execution/sessions/contract.js'
import { Assets } from '../../media/assets/contract.js'
import { ConnectorKinds, Connectors, DeliveryProgress, FileSources, Ingress } from '../registry/contract.js'
import { ingressConfig } from './config.js'
import { declarePending, type PendingEvent } from './pending/store.js'
import { createFilesWorker } from './pending/worker.js'
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
  wants: { interception: Interception, assets: Assets, connectors: Connectors },
  provides: [Ingress, DeliveryProgress],
  config: ingressConfig,
  register(ctx, { runs, sessions, outbox, interception, assets, connectors }) {
    const { state, clock, ids, log, signal } = ctx
    const counted = createCount({
      name: 'service_connector_ingress_total',
      help: 'Events of connectors, by kind and by what became of them.',
      labels: ['kind', 'outcome'],
    })
    const rates = createRates(clock, ctx.config.events_per_second)
    const store = declarePending(state)
    const [kinds, sources] = [ctx.view(ConnectorKinds), ctx.view(FileSources)]
    const find = ({ kind, name }: PendingEvent) => {
      const source = sources().find((one) => one.kind === kind)
      const known = kinds().find((one) => one.kind === kind)
      const connector = known === undefined ? undefined : connectors()?.find(known, name)
      return source === undefined || connector === undefined ? undefined : { connector, source }
    }
    const worker = createFilesWorker({ store, runs, sessions, assets, find, clock, log, signal })
    const pending = { store, runs, sessions, ids, poke: worker.poke }
    ctx.provide(
      Ingress,
      createIngress({ clock, state, runs, sessions, interception, connectors, rates, pending, counted }),
    )
    const progress = declareProgress(state)
    ctx.provide(DeliveryProgress, createProgress(progress, outbox))
    ctx.contribute(ReservedKeys, ...ingressKeys)
    ctx.contribute(SessionHolds, {
      id: 'connector-events',
      holds: (session_id) =>
        store.events.count('session', session_id) > 0 ? 'a message that waits for its files, or for room' : undefined,
    })
    ctx.contribute(
      Metrics,
      counted.metric,
      ...gauges([
        'service_connector_events_waiting',
        'Events of connectors that wait for their files, or for room.',
        () => store.events.count('all', 'all'),
      ]),
    )
    ctx.contribute(DeliveryObservers, forgetSettled(progress))
    ctx.onStart(() => worker.start())
  },
})
