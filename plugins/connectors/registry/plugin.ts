import { definePlugin, Metrics, type Caller } from '../../../core/plugin.js'
import { Outbox, TargetKeepers } from '../../execution/deliveries/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { PersonaSource, Sessions } from '../../execution/sessions/contract.js'
import { SecretReferences, SecretSeal, SecretSlots } from '../../operator/secrets/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { putConnector, removeConnector, type ChangeParts } from './change.js'
import { ConnectorKinds, Connectors } from './contract.js'
import { connectorList, FileConfig } from './file.js'
import { connectorKeeper, declareConnectors } from './record.js'
import { createRegistry } from './registry.js'
import { idOfEntry } from './roster.js'
import { connectorRoutes } from './routes.js'
import { connectorMetrics, connectorsHealth, connectorsSection } from './status.js'
import { viewOf } from './view.js'

export default definePlugin({
  id: 'connectors',
  version: '1.0.0',
  api: 1,
  summary: 'Connectors of all kinds, as a file and requests set them up.',
  needs: { outbox: Outbox, personas: PersonaSource, sessions: Sessions, slots: SecretSlots, seal: SecretSeal },
  wants: { runs: Runs },
  provides: [Connectors],
  fileIsList: true,
  config: FileConfig,
  flags: { connectors_config: 'connectors-config' },
  register(ctx, { outbox, personas, sessions, slots, seal, runs }) {
    const { clock, log, secrets, state } = ctx
    const collection = declareConnectors(state)
    const [kinds, keepers] = [ctx.view(ConnectorKinds), ctx.view(TargetKeepers)]
    const list = ctx.list(connectorList(ctx.config.connectors_config))
    const registry = createRegistry({ collection, list, kinds, slots, seal, outbox, secrets, clock, log })
    const shown = { registry, file: list.source, lineOf: list.lineOf }
    const parts: ChangeParts = {
      ...shown,
      state,
      collection,
      kinds,
      outbox,
      slots,
      seal,
      personas,
      sessions,
      runs,
      keepers,
      secrets,
      guard: registry.guard,
    }
    const targetsOf = (kind: string) => kinds().find((one) => one.kind === kind)?.targets
    ctx.provide(Connectors, registry.connectors)
    ctx.contribute(TargetKeepers, connectorKeeper(state, { collection, targetsOf }))
    ctx.contribute(SecretReferences, {
      id: 'connectors',
      of: (ref) => registry.using(ref).map((entry) => ({ kind: 'connector', id: idOfEntry(entry) })),
    })
    ctx.contribute(StatusSections, connectorsSection(shown))
    ctx.contribute(Metrics, ...connectorMetrics(shown))
    ctx.health(connectorsHealth(shown))
    ctx.routes(
      ...connectorRoutes({
        list: registry.list,
        find: registry.find,
        view: (entry, caller: Caller) => viewOf(entry, registry.healthOf(entry), caller),
        put: (wish, body) => putConnector(parts, wish, body),
        remove: (wish) => removeConnector(parts, wish),
      }),
    )
    ctx.onStart(registry.begin)
  },
})
