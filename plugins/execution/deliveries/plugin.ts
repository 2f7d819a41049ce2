import { Metrics, createUnreadable, definePlugin, Host } from '../../../core/plugin.js'
import { AssetReferences } from '../../media/assets/contract.js'
import { SecretSeal } from '../../operator/secrets/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { ExternalActions } from '../external-actions/contract.js'
import type { AttemptParts } from './attempt.js'
import { deliveriesConfig, deliveriesFlags } from './config.js'
import { begunBeside, createCarryOver } from './carry-over.js'
import { DeliveryObservers, Outbox, ReplyPlugins, TargetKeepers } from './contract.js'
import { deliveryMetrics } from './metrics.js'
import { createOutbox } from './outbox.js'
import { watchDeadLetters } from './expiry.js'
import { graceMs } from './round.js'
import { deliveryRoutes } from './routes.js'
import { deliveryStatus } from './status.js'
import { declareStore, deliveryHolder, deliveryKeeper } from './store.js'
import { viewDelivery } from './views.js'
import { createWorker } from './worker.js'

export default definePlugin({
  id: 'deliveries',
  version: '1.0.0',
  api: 1,
  summary: 'The outbox: outputs on their way to reply targets, and what became of each.',
  needs: { host: Host },
  wants: { ledger: ExternalActions, seal: SecretSeal },
  provides: [Outbox],
  config: deliveriesConfig,
  flags: deliveriesFlags,
  stopMs: ({ drain_ms }) => drain_ms + graceMs,
  register(ctx, { host, ledger, seal }) {
    const { config, clock, ids, log, secrets } = ctx
    const store = declareStore(ctx.state)
    const replies = ctx.view(ReplyPlugins)
    const observers = ctx.observers(DeliveryObservers)
    const settled: AttemptParts['settled'] = (tx, deliveries) => {
      const views = deliveries.map(viewDelivery)
      observers.tell(tx, 'hearing of settled deliveries', (observer) => observer.settled(tx, views))
    }
    const { redact } = secrets
    const worker = createWorker({ store, settled, replies, ledger, config, clock, ids, log, redact })
    const outbox = createOutbox({ store, replies, wake: worker.wake })
    ctx.provide(Outbox, outbox)
    const unreadable = createUnreadable(log, 'deliveries')
    ctx.routes(...deliveryRoutes({ store, wake: worker.wake, skip: unreadable.skip }))
    ctx.health(unreadable.health)
    const { section, health } = deliveryStatus({ store, worker, clock, log })
    ctx.contribute(StatusSections, section)
    ctx.contribute(Metrics, ...deliveryMetrics(store))
    ctx.health(health)
    ctx.contribute(TargetKeepers, deliveryKeeper(store))
    ctx.contribute(AssetReferences, deliveryHolder(store))
    const keepers = ctx.view(TargetKeepers)
    const carryOver = createCarryOver({ state: ctx.state, keepers, keep: outbox.keep, log })
    ctx.onStart(() => host.whenActing(() => (seal() === undefined ? () => {} : begunBeside(carryOver)())))
    ctx.onStart(() => host.whenActing(worker.start))
    ctx.onStart(() => host.whenActing(() => watchDeadLetters({ store, config, clock, log })))
  },
})
