import { createOutbound, definePlugin } from '../../../core/plugin.js'
import { ReplyPlugins } from '../../execution/deliveries/contract.js'
import { Assets } from '../../media/assets/contract.js'
import { LiveKinds, LiveReplies } from '../live/contract.js'
import {
  ConnectorKinds,
  Connectors,
  DeliveryProgress,
  FileSources,
  Ingress,
  type Changeable,
} from '../registry/contract.js'
import { createAsides } from '../ingress/contract.js'
import { createFileSource } from './incoming/file-source.js'
import { createInteractions } from './live/interactions.js'
import { createLiveKind } from './live/kind.js'
import { createWhisper } from './live/whisper.js'
import { createReply } from './outgoing/reply.js'
import { slackRoute } from './routes.js'
import { createDenied } from './setup/denied.js'
import { slackConfig } from './setup/config.js'
import { createSlackKind } from './setup/kind.js'
import { createSignatures } from './setup/signatures.js'
import { filesUnopened } from './setup/troubles.js'

export default definePlugin({
  id: 'slack',
  version: '1.0.0',
  api: 1,
  summary: 'Sessions that are talked to in Slack.',
  needs: { connectors: Connectors, ingress: Ingress, progress: DeliveryProgress },
  wants: { assets: Assets, live: LiveReplies },
  config: slackConfig,
  register(ctx, { connectors, ingress, progress, assets, live }) {
    const { clock, config, log, signal } = ctx
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    const kind = createSlackKind(config)
    ctx.contribute(ConnectorKinds, kind)
    const denied = createDenied(clock, log)
    const interactions = createInteractions({
      live,
      denied,
      whisper: createWhisper({ outbound, config, log, asides: createAsides(), signal }),
    })
    const signatures = createSignatures(connectors, kind)
    ctx.health(signatures.health)
    ctx.routes(slackRoute({ clock, connectors, kind, ingress, interactions, signatures, denied }))
    const lockedOut = (connector: Changeable): void =>
      connectors.trouble('slack', connector.name, filesUnopened(connector))
    ctx.contribute(FileSources, createFileSource({ outbound, clock, config, connectors, kind, lockedOut }))
    ctx.contribute(ReplyPlugins, createReply({ outbound, config, kind, connectors, progress, assets, live }))
    ctx.contribute(LiveKinds, createLiveKind({ outbound, config, connectors, kind }))
  },
})
