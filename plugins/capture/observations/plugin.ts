import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { Capabilities } from '../../operator/status/contract.js'
import { Observations, ObservationSources } from './contract.js'
import { createAudit } from './record/audit.js'
import { declareStore } from './record/store.js'
import { createObservations, createRefusals, createSources } from './service.js'
import { createChanges } from './sources/change.js'
import { sourceRoutes } from './sources/routes.js'

export default definePlugin({
  id: 'observations',
  version: '1.0.0',
  api: 1,
  summary: 'What machines see and hear: sent by sources, kept for a while, given to runs.',
  provides: [ObservationSources, Observations],
  config: object({}),
  register(ctx) {
    const { state, ids, clock, log, secrets } = ctx
    const { skip, health } = createUnreadable(log, 'observations')
    const store = declareStore(state, skip)
    const audit = createAudit(store)
    const changes = createChanges(store, audit)
    const noteRefusal = createRefusals({ store, audit, clock, log })
    ctx.provide(ObservationSources, createSources(store, { changes, audit, noteRefusal }))
    ctx.provide(Observations, createObservations(store))
    ctx.routes(...sourceRoutes({ store, changes, audit, ids, redact: secrets.redact, settle: () => Promise.resolve() }))
    ctx.contribute(Capabilities, { name: 'observations', value: true })
    ctx.health(health)
  },
})
