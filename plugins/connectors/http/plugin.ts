import { createOutbound, definePlugin } from '../../../core/plugin.js'
import { ReplyPlugins } from '../../execution/deliveries/contract.js'
import { SecretSeal } from '../../operator/secrets/contract.js'
import { httpConfig } from './config.js'
import { deliver } from './deliver.js'
import { createLocked } from './locked.js'
import { addressOf, createReplyRoutes, refusedAddress } from './reply-route.js'

export default definePlugin({
  id: 'http',
  version: '1.0.0',
  api: 1,
  summary: 'Replies that are posted to a URL.',
  wants: { seal: SecretSeal },
  config: httpConfig,
  register(ctx, { seal }) {
    const { clock, config } = ctx
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    const routes = createReplyRoutes({ seal, secrets: ctx.secrets, clock })
    ctx.own(routes.close)
    const locked = createLocked(routes)
    ctx.health(locked.health)
    ctx.contribute(ReplyPlugins, {
      plugin: 'http',
      address: addressOf,
      refuse: (address) => refusedAddress(address, { allow_cidrs: config.allow_cidrs }),
      keep: routes.keep,
      target: routes.target,
      deliver: (envelope, signal) => deliver({ outbound, clock, config, routes, locked }, envelope, signal),
    })
  },
})
