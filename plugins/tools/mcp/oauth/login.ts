/** A login: an address for a person's browser, and what the browser brings back. */
import {
  afterlifeMs,
  type Clock,
  type Ids,
  type Outbound,
  type Problem,
  type Secrets,
  type State,
} from '../../../../core/plugin.js'
import type { Kit } from '../connection/kit.js'
import { accountOf, clientOf, issuerOf, withTokens, type Account, type Tokens } from './account.js'
import type { Accounts } from './accounts.js'
import { createAsk, failed, type AskParts, type OauthServer } from './ask.js'
import { discover, type Discovered } from './discovery.js'
import { oauthErrors } from './errors.js'
import { reasonOf, shownCode } from './faults.js'
import { loginMs, type Login, type Pending } from './pending.js'
import { revokeTokens } from './revocation.js'
import type { Wanted } from './wanted.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'

/** The client that an operator registered by hand. */
export interface GivenClient {
  readonly client_id?: string | undefined
  /** The secret that holds the secret of the client. */
  readonly client_secret_ref?: string | undefined
}

/** What the browser was sent back with. */
export interface Redirect {
  readonly state: string
  readonly code?: string | undefined
  readonly iss?: string | undefined
  readonly error?: string | undefined
}

export interface LoginParts {
  readonly accounts: Accounts
  readonly slots: SecretSlots
  readonly pending: Pending
  readonly wanted: Wanted
  readonly state: State
  readonly clock: Clock
  readonly ids: Ids
  readonly secrets: Secrets
  readonly outbound: Pick<Outbound, 'request'>
  readonly signal: AbortSignal
  readonly loadKit: () => Promise<Kit>
  /** Where browsers are sent back to. */
  readonly redirectUri: () => string
  /** Throws `mcp_oauth_unknown`. */
  readonly get: (server: string) => OauthServer
}

/** What a person is told. */
export interface BegunLogin {
  readonly server: string
  readonly authorization_url: string
  readonly redirect_uri: string
  readonly expires_at_ms: number
}

export interface Logins {
  begin(server: OauthServer, client: GivenClient): Promise<BegunLogin>
  /** The server that somebody is logged in at now. */
  finish(redirect: Redirect, expected?: string): Promise<OauthServer>
}

interface Asking extends AskParts {
  readonly kit: Kit
  readonly found: Discovered
}

/** A login, and what its browser was sent back with. */
interface Returned {
  readonly login: Login
  readonly redirect: Redirect
}

type Client = NonNullable<ReturnType<typeof clientOf>>

/** Public where the authorization server allows it: the daemon is no place that keeps a client's secret better. */
const methodOf = ({ metadata }: Discovered): string => {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['none']
  return ['none', 'client_secret_post', 'client_secret_basic'].find((one) => methods.includes(one)) ?? 'none'
}

const register = async ({ kit, found, ...parts }: Asking, redirect_uri: string): Promise<Client> => {
  const { metadata, scope } = found
  if (metadata.registration_endpoint === undefined)
    throw failed(
      parts.server,
      'its authorization server registers no clients: register one there by hand, and give its client_id',
    )
  const client = await kit.registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: 'Holdfast',
      // Browsers are sent back to this machine.
      application_type: 'native',
      redirect_uris: [redirect_uri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: methodOf(found),
    },
    ...(scope !== undefined && { scope }),
    fetchFn: createAsk(parts),
  })
  const { client_id, client_secret, token_endpoint_auth_method = methodOf(found) } = client
  return { client_id, ...(client_secret !== undefined && { client_secret }), token_endpoint_auth_method }
}

const askingOf = ({ outbound, signal }: LoginParts, server: OauthServer): AskParts => ({ outbound, server, signal })

/** The client of the account that is there, of use or not: one that was registered is not registered again. */
const knownClient = (parts: LoginParts, server: OauthServer, { metadata }: Discovered): Client | undefined => {
  const { slots, redirectUri } = parts
  const { oauth_slot_ref } = server.entry
  if (slots.find(oauth_slot_ref)?.details.readable !== true) return undefined
  const before = accountOf(slots.state(oauth_slot_ref))
  const isSame = before?.authorization_server?.issuer === metadata.issuer && before.redirect_uri === redirectUri()
  return isSame && before !== undefined ? clientOf(before) : undefined
}

const givenClient = ({ slots }: LoginParts, { client_id, client_secret_ref }: GivenClient): Client | undefined => {
  if (client_id === undefined && client_secret_ref !== undefined) throw oauthErrors.mcp_oauth_client_incomplete()
  if (client_id === undefined) return undefined
  return { client_id, ...(client_secret_ref !== undefined && { client_secret: slots.value(client_secret_ref) }) }
}

const refuse = ({ name }: OauthServer, reason: string, cause?: unknown): Problem =>
  oauthErrors.mcp_oauth_login_refused({ details: { server: name, reason }, cause })

/** A secret that is no account of MCP is not written over. */
const checkSlot = ({ slots }: LoginParts, server: OauthServer): void => {
  const slot = slots.find(server.entry.oauth_slot_ref)
  if (slot !== undefined && slot.provider !== 'mcp_oauth')
    throw refuse(server, `the secret ${slot.slot_id} is no account of an MCP server`)
}

/** Scopes to ask for beside those that the server names: what it lacked, and then also what the account has. */
const wantedBy = ({ slots, wanted }: LoginParts, server: OauthServer): readonly string[] => {
  const lacked = wanted.of(server)
  const { oauth_slot_ref } = server.entry
  if (lacked.length === 0 || slots.find(oauth_slot_ref)?.details.readable !== true) return lacked
  return [...(accountOf(slots.state(oauth_slot_ref))?.scope?.split(' ') ?? []), ...lacked]
}

const begin = async (parts: LoginParts, server: OauthServer, given: GivenClient): Promise<BegunLogin> => {
  const { pending, clock, ids, loadKit } = parts
  checkSlot(parts, server)
  const operators = givenClient(parts, given)
  const kit = await loadKit()
  const asking = { ...askingOf(parts, server), kit }
  const found = await discover({ ...asking, wanted: wantedBy(parts, server) })
  const redirect_uri = parts.redirectUri()
  const words = async (error: unknown): Promise<never> => {
    throw failed(server, reasonOf(kit, error), error)
  }
  const client =
    operators ?? knownClient(parts, server, found) ?? (await register({ ...asking, found }, redirect_uri).catch(words))
  const state = ids.random(32)
  const { metadata, resource, scope } = found
  const wish = { metadata, clientInformation: client, redirectUrl: redirect_uri, state, resource }
  const { authorizationUrl, codeVerifier } = await kit
    .startAuthorization(metadata.issuer, { ...wish, ...(scope !== undefined && { scope }) })
    .catch(words)
  const expires_at_ms = clock.now() + loginMs
  const draft: Account = {
    ...client,
    authorization_server: issuerOf(found),
    redirect_uri,
    resource,
    server_url: server.entry.url,
    ...(scope !== undefined && { asked_scope: scope }),
  }
  pending.add({ server: server.name, state, verifier: codeVerifier, draft, expires_at_ms })
  return { server: server.name, authorization_url: authorizationUrl.href, redirect_uri, expires_at_ms }
}

/** Tokens for what the browser brought back. Throws `mcp_oauth_login_refused`. */
const exchange = async (parts: LoginParts, server: OauthServer, { login, redirect }: Returned): Promise<Tokens> => {
  const { draft, verifier } = login
  const { code, iss, error } = redirect
  const kit = await parts.loadKit()
  if (error !== undefined) throw refuse(server, `the authorization server answered ${shownCode(error)}`)
  const client = clientOf(draft)
  const { authorization_server: issuer, redirect_uri, resource } = draft
  if (code === undefined || client === undefined || issuer === undefined || redirect_uri === undefined)
    throw refuse(server, 'the browser came back without a code')
  if (iss === undefined && issuer.authorization_response_iss_parameter_supported === true)
    throw refuse(server, 'the browser came back without iss, which the authorization server promises to send')
  if (draft.server_url !== server.entry.url) throw refuse(server, 'url says another address than when it was begun')
  const letGo = parts.secrets.guard(code)
  try {
    return await kit.exchangeAuthorization(issuer.issuer, {
      metadata: issuer,
      clientInformation: client,
      authorizationCode: code,
      ...(iss !== undefined && { iss }),
      codeVerifier: verifier,
      redirectUri: redirect_uri,
      ...(resource !== undefined && { resource }),
      fetchFn: createAsk(askingOf(parts, server)),
    })
  } catch (cause) {
    throw refuse(server, reasonOf(kit, cause), cause)
  } finally {
    parts.clock.after(afterlifeMs, letGo)
  }
}

const store = async (parts: LoginParts, returned: Returned): Promise<OauthServer> => {
  const { accounts, clock, state, get, pending } = parts
  const { server: name, draft } = returned.login
  const server = get(name)
  const tokens = await exchange(parts, server, returned)
  const account = withTokens(server, draft, { tokens, now: clock.now() })
  const isStored = await state.commit((tx) => {
    // Who logged out or began another login meanwhile did so last, and that counts. Whatever else was stored does not.
    if (pending.of(name) !== returned.login) return false
    checkSlot(parts, server)
    return accounts.put(tx, server, { account, of: accounts.versionOf(server) })
  })
  if (!isStored) {
    await revokeTokens({ ...askingOf(parts, server), account })
    throw refuse(server, 'somebody logged out or began another login while it was under way')
  }
  parts.wanted.clear(server)
  return server
}

export const createLogins = (parts: LoginParts): Logins => ({
  begin: (server, client) => begin(parts, server, client),
  async finish(redirect, expected) {
    const { pending } = parts
    const login = pending.take(redirect.state, expected)
    if (login === undefined)
      throw oauthErrors.mcp_oauth_login_unknown(expected === undefined ? {} : { details: { server: expected } })
    try {
      return await store(parts, { login, redirect })
    } finally {
      pending.end(login)
    }
  },
})
