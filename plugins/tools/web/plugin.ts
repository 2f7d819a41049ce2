import { createOutbound, definePlugin } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { WebConfig } from './config.js'
import { webFetchTool } from './web-fetch.js'

export default definePlugin({
  id: 'web',
  version: '1.0.0',
  api: 1,
  summary: 'Tools that read pages of the web.',
  config: WebConfig,
  register(ctx) {
    const { clock, config, secrets, signal } = ctx
    const outbound = createOutbound({ clock, connections: 8 })
    ctx.own(() => outbound.close())
    ctx.contribute(Tools, webFetchTool({ outbound, clock, config, redact: secrets.redact, signal }))
  },
})
