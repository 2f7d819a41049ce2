import { createOutbound, definePlugin } from '../../../core/plugin.js'
import { Tools } from '../../execution/tools/contract.js'
import { SecretReferences, SecretSlots } from '../../operator/secrets/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { WebConfig } from './config.js'
import { findHost, searchHealth } from './search/host.js'
import { webSection } from './search/status.js'
import { webFetchTool } from './web-fetch.js'
import { webSearchTool } from './web-search.js'

export default definePlugin({
  id: 'web',
  version: '1.0.0',
  api: 1,
  summary: 'Tools that read pages of the web and search it.',
  wants: { slots: SecretSlots },
  config: WebConfig,
  flags: { search_engine: 'web-search-engine', search_url: 'web-search-url', search_auth_ref: 'web-search-auth-ref' },
  register(ctx, { slots }) {
    const { clock, config, secrets, signal } = ctx
    const outbound = createOutbound({ clock, connections: 8 })
    ctx.own(() => outbound.close())
    const host = () => findHost(config, slots())
    const parts = { outbound, clock, config, secrets, signal, host }
    ctx.contribute(Tools, webFetchTool(parts))
    ctx.contribute(StatusSections, webSection(config, host))
    ctx.contribute(SecretReferences, {
      id: 'web',
      of: (ref) => (ref === config.search_auth_ref ? [{ kind: 'web_search', id: config.search_engine ?? '' }] : []),
    })
    ctx.health(searchHealth(host))
    ctx.onStart(() => {
      let takeBack: (() => void) | undefined
      const settle = (): void => {
        if (host().type === 'ready') takeBack ??= ctx.contribute(Tools, webSearchTool(parts))
        else takeBack = void takeBack?.()
      }
      settle()
      return slots()?.onChange(settle)
    })
  },
})
