import { createOutbound, definePlugin } from '../../../core/plugin.js'
import { ReplyPlugins } from '../../execution/deliveries/contract.js'
import { httpConfig } from './config.js'
import { deliver } from './deliver.js'
import { addressOf, refusedAddress, targetOf } from './reply-route.js'

export default definePlugin({
  id: 'http',
  version: '1.0.0',
  api: 1,
  summary: 'Replies that are posted to a URL.',
  config: httpConfig,
  register(ctx) {
    const { clock, config } = ctx
    const outbound = createOutbound({ clock })
    ctx.own(() => outbound.close())
    ctx.contribute(ReplyPlugins, {
      plugin: 'http',
      address: addressOf,
      refuse: (address) => refusedAddress(address, { allow_cidrs: config.allow_cidrs }),
      target: targetOf,
      deliver: (envelope, signal) => deliver({ outbound, clock, config }, envelope, signal),
    })
  },
})
