import { createOutbound, definePlugin, Host } from '../../../core/plugin.js'
import { ReplyPlugins } from '../../execution/deliveries/contract.js'
import { Assets } from '../../media/assets/contract.js'
import { LiveKinds, LiveReplies } from '../live/contract.js'
import { ConnectorKinds, Connectors, DeliveryProgress, FileSources, Ingress } from '../registry/contract.js'
import { telegramConfig } from './config.js'
import { declareCursors } from './polling/cursor.js'
import { telegramFiles } from './files.js'
import { telegramLive } from './live-messages.js'
import { startPollers } from './polling/pollers.js'
import { telegramReply } from './output/reply.js'
import { telegramRoute } from './routes.js'
import { createGate } from './output/send.js'
import { createRefusals } from './updates/refused.js'
import { telegramKind } from './bot/settings.js'

export default definePlugin({
  id: 'telegram',
  version: '1.0.0',
  api: 1,
  summary: 'Telegram bots: messages by webhook or poll, and answers.',
  needs: { host: Host, connectors: Connectors, ingress: Ingress, progress: DeliveryProgress },
  wants: { assets: Assets, live: LiveReplies },
  config: telegramConfig,
  register(ctx, { host, connectors, ingress, progress, assets, live }) {
    const { clock, config, log, ids, signal } = ctx
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    const kind = telegramKind({ allow_cidrs: config.allow_cidrs })
    const api = { outbound, config, now: clock.now, elapsed: clock.elapsed }
    const refusals = createRefusals({ connectors, kind, clock, log })
    const parts = { ...api, connectors, kind, ingress, live, progress, assets, ids, clock, log, signal, refusals }
    const cursors = declareCursors(ctx.state)
    ctx.contribute(ConnectorKinds, kind)
    ctx.contribute(FileSources, telegramFiles(parts))
    ctx.contribute(ReplyPlugins, telegramReply({ ...parts, gate: createGate() }))
    ctx.contribute(LiveKinds, telegramLive(parts))
    ctx.health(refusals.health)
    ctx.routes(telegramRoute(parts))
    ctx.onStart(() => host.whenActing(() => startPollers({ ...parts, cursors })))
  },
})
