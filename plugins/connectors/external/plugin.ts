import {
  createOutbound,
  definePlugin,
  defineRoute,
  Host,
  Metrics,
  Supervised,
  textReply,
} from '../../../core/plugin.js'
import { Outbox, ReplyPlugins } from '../../execution/deliveries/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { Assets } from '../../media/assets/contract.js'
import { Leases } from '../../operator/leases/contract.js'
import { familyText, textType } from '../../operator/metrics/contract.js'
import { SecretSlots } from '../../operator/secrets/contract.js'
import { ConnectorKinds, Connectors, Ingress } from '../registry/contract.js'
import { deliveryAssetRoute } from './asset-route.js'
import { credentialRoute } from './children/credential-route.js'
import { childStopMs, createChildren } from './children/children.js'
import { externalConfig } from './setup/config.js'
import { createCounts, type ExternalCounts } from './setup/counts.js'
import { createChildCredentials, subjectOf } from './children/credentials.js'
import { eventRoutes } from './events/routes.js'
import { hearOutcome } from './sidecar/health.js'
import { createExternalKind } from './setup/kind.js'
import { createSidecarClient } from './sidecar/client.js'
import { deliver } from './sidecar/deliver.js'
import { createManifests } from './sidecar/manifests.js'
import { addressOf, keptAddress, refusedAddress, targetOf } from './sidecar/reply-route.js'
import { watchSidecars } from './sidecar/watch.js'

export default definePlugin({
  id: 'external',
  version: '1.0.0',
  api: 1,
  summary: 'Connectors whose platform is spoken to by a sidecar.',
  needs: {
    host: Host,
    supervised: Supervised,
    connectors: Connectors,
    ingress: Ingress,
    outbox: Outbox,
    runs: Runs,
    leases: Leases,
    slots: SecretSlots,
  },
  wants: { assets: Assets },
  config: externalConfig,
  stopMs: () => childStopMs,
  register(ctx, { host, supervised, connectors, ingress, outbox, runs, leases, slots, assets }) {
    const { clock, config, log, signal } = ctx
    const open = config.allow_cidrs
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    const kind = createExternalKind({ slots, open })
    const counts = createCounts()
    const client = createSidecarClient({ outbound, open })
    const manifests = createManifests({
      client,
      clock,
      signal,
      failed: ({ name }) => counts.add(name, 'manifest_failure'),
    })
    const credentials = createChildCredentials(leases)
    const access = { kind, connectors }
    const children = createChildren({
      ...access,
      clock,
      log,
      host,
      supervised,
      slots,
      credentials,
      client,
      manifests,
      counts,
      redact: ctx.secrets.redact,
      guard: ctx.secrets.guard,
    })
    ctx.contribute(ConnectorKinds, kind)
    ctx.contribute(Metrics, ...counts.metrics)
    const delivering = { ...access, client, manifests, counts, clock, heard: hearOutcome(connectors, children.isDown) }
    ctx.contribute(ReplyPlugins, {
      plugin: 'external',
      address: addressOf,
      refuse: (address) => refusedAddress(access, address),
      keep: keptAddress,
      target: targetOf,
      deliver: (envelope, attempt) => deliver(delivering, envelope, attempt),
    })
    ctx.routes(
      ...eventRoutes({ ...access, ingress, runs, manifests, counts, log }),
      credentialRoute({ ...access, credentials, slots }),
      deliveryAssetRoute({ ...access, outbox, assets }),
      metricsRoute(counts),
    )
    ctx.onStart(() =>
      connectors.onChange(({ kind: changed, name, why }) => {
        if (changed !== 'external') return
        manifests.forget(name)
        // Whoever revoked it may go on to revoke its secrets, or to renew them: that lets nobody in again.
        if (why === 'set_up' && connectors.find(kind, name) !== undefined)
          leases
            .admit(subjectOf(name))
            .catch((error: unknown) => log.error('a connector could not be admitted', { connector: name, error }))
      }),
    )
    ctx.onStart(() => host.whenActing(children.begin))
    ctx.onStart(() => watchSidecars({ kind, connectors, client, clock, log, signal }))
  },
})

const metricsRoute = ({ metrics }: ExternalCounts) =>
  defineRoute({
    id: 'external.metrics',
    method: 'GET',
    path: '/v1/runtime/connectors/external/metrics',
    summary: 'What became of events and deliveries of external connectors, in the text format of Prometheus.',
    access: 'read',
    reply: textReply(textType),
    handler: () => metrics.map(familyText).join(''),
  })
