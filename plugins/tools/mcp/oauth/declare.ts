/** What accounts of servers add to the daemon. */
import type { HostView, List, PluginContext } from '../../../../core/plugin.js'
import { AccountRefreshers, type SecretSlots } from '../../../operator/secrets/contract.js'
import type { ServerEntry } from '../config/entry.js'
import { createOauth, type Oauth } from './oauth.js'
import { oauthRoutes } from './routes.js'

export interface OauthWish {
  readonly host: HostView
  readonly slots: SecretSlots
  readonly servers: List<ServerEntry>
}

/** Browsers on this machine find the daemon there, whatever else it is bound to. */
const loopbackOf = ({ base_url }: { readonly base_url: string }): string => {
  const { hostname, port } = new URL(base_url)
  return `http://${hostname === '[::1]' ? hostname : '127.0.0.1'}:${port === '' ? 80 : port}`
}

export const declareOauth = (ctx: PluginContext<unknown>, { host, slots, servers }: OauthWish): Oauth => {
  const { clock, ids, secrets, state } = ctx
  const loopbackUrl = (): string => loopbackOf(host.controlPlane())
  const oauth = createOauth({ clock, ids, secrets, state, slots, servers, loopbackUrl })
  ctx.routes(...oauthRoutes(oauth))
  ctx.health({ id: 'mcp-oauth', check: oauth.warnings })
  ctx.contribute(AccountRefreshers, { id: 'mcp-oauth', refresh: oauth.refreshSlot })
  ctx.own(oauth.close)
  ctx.onStart(oauth.start)
  return oauth
}
