import { createCount, createUnreadable, definePlugin, Metrics, object } from '../../../core/plugin.js'
import { AssetReferences, Assets } from '../../media/assets/contract.js'
import { DerivationSubjects } from '../../media/derivations/contract.js'
import { ReplyPlugins } from '../../execution/deliveries/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { SchedulePayloads } from '../../execution/schedules/contract.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { Observations, ObservationSources, SourceKeepers } from './contract.js'
import { daemonReply } from './materialization/daemon-reply.js'
import { materializationPayload } from './materialization/payload.js'
import { materializationRoute } from './materialization/route.js'
import { observationAssets } from './record/assets.js'
import { createAudit } from './record/audit.js'
import { declareStore } from './record/store.js'
import { createLeavingFiles } from './retention/files.js'
import { createRetention } from './retention/retention.js'
import { observationRoutes } from './routes.js'
import { createObservations, createRefusals, createSources } from './service.js'
import { createChanges } from './sources/change.js'
import { sourceRoutes } from './sources/routes.js'
import { observationMetrics, observationSection } from './status.js'
import { observationSubject } from './subject.js'
import { createRates } from './upload/rate.js'
import { uploadRoute } from './upload/route.js'

export default definePlugin({
  id: 'observations',
  version: '1.0.0',
  api: 1,
  summary: 'What machines see and hear: sent by sources, kept for a while, given to runs.',
  needs: { assets: Assets, runs: Runs },
  provides: [ObservationSources, Observations],
  config: object({}),
  register(ctx, { assets, runs }) {
    const { state, ids, clock, log, secrets } = ctx
    const { skip, health } = createUnreadable(log, 'observations')
    const store = declareStore(state, skip)
    const audit = createAudit(store)
    const changes = createChanges(store, audit)
    const noteRefusal = createRefusals({ store, audit, clock, log })
    const leaving = createLeavingFiles({ store, assets, audit, log })
    const retention = createRetention({ store, clock, log, filesLeave: leaving.poke })
    const keepers = ctx.view(SourceKeepers)
    const uploads = createCount({
      name: 'service_observation_uploads_total',
      help: 'Uploads of sources, by what became of them.',
      labels: ['outcome'],
    })
    const rates = createRates(clock)
    const materialization = { store, runs, assets, retention, clock, ids }
    ctx.provide(ObservationSources, createSources(store, { changes, audit, noteRefusal }))
    ctx.provide(Observations, createObservations(store))
    ctx.routes(
      ...sourceRoutes({ store, changes, audit, ids, redact: secrets.redact, settle: retention.settle }),
      ...observationRoutes({ store, retention }),
      uploadRoute({ store, assets, audit, rates, retention, keepers, noteRefusal, clock, ids, uploads }),
      materializationRoute(materialization),
    )
    ctx.contribute(SchedulePayloads, materializationPayload(materialization))
    ctx.contribute(ReplyPlugins, daemonReply)
    ctx.contribute(AssetReferences, observationAssets(store))
    ctx.contribute(DerivationSubjects, observationSubject({ store, assets }))
    ctx.contribute(Capabilities, { name: 'observations', value: true })
    ctx.contribute(StatusSections, observationSection(store))
    ctx.contribute(Metrics, uploads.metric, ...observationMetrics(store))
    ctx.health(health)
    ctx.onStart(() => {
      const end = retention.begin()
      leaving.poke()
      return async () => {
        await end()
        await leaving.end()
      }
    })
  },
})
