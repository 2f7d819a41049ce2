/** Accounts of MCP servers: logins, refreshes, logouts, and the tokens of requests. */
import {
  createOutbound,
  within,
  type Clock,
  type Ids,
  type List,
  type Problem,
  type Secrets,
  type State,
  type Warning,
} from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import type { Authorize } from '../config/authorization.js'
import { isHttp, type ServerEntry } from '../config/entry.js'
import { loadKit } from '../connection/kit.js'
import { createAccounts, loginRequired } from './accounts.js'
import type { OauthServer } from './ask.js'
import { createAuthorize } from './authorization.js'
import { oauthErrors } from './errors.js'
import { createLogins, type Logins } from './login.js'
import { logOut, type Logout } from './logout.js'
import { createMarks } from './marks.js'
import { createPending } from './pending.js'
import { createRefresher } from './refresh.js'
import { loginWarnings, viewOf, type OauthView } from './views.js'
import { createWanted } from './wanted.js'

export interface OauthParts {
  readonly clock: Clock
  readonly ids: Ids
  readonly secrets: Secrets
  readonly state: State
  readonly slots: SecretSlots
  readonly servers: List<ServerEntry>
  /** Such as `http://127.0.0.1:4000`: where browsers on this machine find the daemon. */
  readonly loopbackUrl: () => string
}

/** A server that may be connected. */
export interface Connected {
  readonly name: string
  readonly entry: ServerEntry
  facts(): { readonly state: string }
}

export interface Oauth {
  readonly authorize: Authorize
  readonly logins: Logins
  /** Throws `mcp_oauth_unknown`. */
  get(server: string): OauthServer
  list(): readonly OauthView[]
  view(server: OauthServer): OauthView
  refresh(server: OauthServer): Promise<OauthView>
  logout(server: OauthServer): Promise<Logout>
  /** Waits until the login of a server is over, but no longer than this. */
  loginOver(server: string, wish: { readonly wait_ms: number; readonly signal: AbortSignal }): Promise<void>
  /** True if the tokens in this slot were renewed and the connection of the server is good with them. */
  isRenewed(server: Connected, slot_ref: string): boolean
  /** Refreshes the account in this slot; undefined if it is of no server. */
  refreshSlot(slot_ref: string): Promise<void> | undefined
  /** `mcp_oauth_login_required` of a server that nobody can ask before a login; undefined of every other one. */
  needsLogin(server: string): Problem | undefined
  warnings(): readonly Warning[]
  /** Drops what earlier lives knew of accounts that are gone. */
  start(): Promise<void>
  /** Waits for refreshes under way: their answers would be lost. */
  close(): Promise<void>
}

/** The path that browsers are sent back to. */
export const callbackPath = '/v1/mcp/oauth/callback'
/** How long a stop waits for a refresh. Milliseconds. */
const patienceMs = 5_000

export const createOauth = (given: OauthParts): Oauth => {
  const { clock, state, slots, servers, secrets } = given
  const outbound = createOutbound({ clock })
  const ended = new AbortController()
  const { signal } = ended
  const marks = createMarks(state)
  const accounts = createAccounts({ slots, marks })
  const pending = createPending({ clock, secrets })
  const serverOf = (name: string, entry: ServerEntry | undefined): OauthServer | undefined =>
    entry !== undefined && isHttp(entry) && entry.oauth_slot_ref !== undefined
      ? { name, entry: { ...entry, oauth_slot_ref: entry.oauth_slot_ref } }
      : undefined
  const get = (name: string): OauthServer => {
    const server = serverOf(name, servers.all().get(name))
    if (server === undefined) throw oauthErrors.mcp_oauth_unknown({ details: { server: name, file } })
    return server
  }
  const all = (): OauthServer[] => [...servers.all()].flatMap(([name, entry]) => serverOf(name, entry) ?? [])
  const wanted = createWanted()
  const reach = { outbound, signal, loadKit }
  const { source: file } = servers
  const shared = { ...reach, file, accounts, marks, slots, pending, wanted, state, clock, secrets, ids: given.ids }
  const refresher = createRefresher(shared)
  const works = new Set<Promise<unknown>>()
  const tracked = <T>(work: Promise<T>): Promise<T> => {
    const ending = work.catch(() => undefined).finally(() => works.delete(ending))
    works.add(ending)
    return work
  }
  const view = (server: OauthServer): OauthView => viewOf(shared, server)
  const refresh = (server: OauthServer): Promise<void> => tracked(refresher.refresh(server))
  return {
    authorize: createAuthorize({ accounts, clock, wanted, refresher: { ...refresher, refresh } }),
    logins: createLogins({ ...shared, get, redirectUri: () => `${given.loopbackUrl()}${callbackPath}` }),
    get,
    list: () => all().map(view),
    view,
    async refresh(server) {
      await refresh(server)
      return view(server)
    },
    logout: (server) => logOut(shared, server),
    async loginOver(server, { wait_ms, signal: leaves }) {
      const isOver = new AbortController()
      const any = AbortSignal.any([isOver.signal, leaves])
      void pending.over(server).then(() => isOver.abort())
      if (wait_ms > 0) await clock.sleep(wait_ms, any)
    },
    isRenewed(connected, slot_ref) {
      const server = serverOf(connected.name, connected.entry)
      const isIts = server?.entry.oauth_slot_ref === slot_ref && connected.facts().state !== 'waiting'
      return isIts && accounts.faultOf(server) === undefined
    },
    refreshSlot(slot_ref) {
      const server = all().find(({ entry }) => entry.oauth_slot_ref === slot_ref)
      return server === undefined ? undefined : refresh(server)
    },
    needsLogin(name) {
      const server = serverOf(name, servers.all().get(name))
      const reason = server && accounts.faultOf(server)
      return reason === undefined || server === undefined ? undefined : loginRequired(server, reason)
    },
    warnings: () =>
      loginWarnings(
        shared,
        all().filter(({ entry }) => entry.enabled),
      ),
    async start() {
      const gone = marks.stale(({ slot_ref, version }) => slots.find(slot_ref)?.details.version === version)
      if (gone.length > 0) await state.commit((tx) => gone.forEach((slot_ref) => marks.clear(tx, slot_ref)))
    },
    async close() {
      await within(clock, patienceMs, Promise.all(works))
      ended.abort()
      await outbound.close()
    },
  }
}
