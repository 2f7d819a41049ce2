/** What the account of a server holds, in its slot: tokens, whose they are, and what for. */
import {
  array,
  boolean,
  integer,
  open,
  optional,
  parse,
  string,
  type Infer,
  type Json,
} from '../../../../core/plugin.js'
import type { Kit } from '../connection/kit.js'
import { failed, type OauthServer } from './ask.js'
import type { Discovered } from './discovery.js'

const text = () => optional(string({ min: 1, max: 16_384 }))

/** As much of the metadata as a refresh needs: whom tokens were got from is who gets them back. */
const Issuer = open({
  issuer: string(),
  authorization_endpoint: string(),
  token_endpoint: string(),
  response_types_supported: array(string()),
  token_endpoint_auth_methods_supported: optional(array(string())),
  revocation_endpoint: optional(string()),
  authorization_response_iss_parameter_supported: optional(boolean()),
})

/** An operator may have stored one by hand, with less in it. */
const Account = open({
  access_token: text(),
  refresh_token: text(),
  expires_at_ms: optional(integer({ min: 0 })),
  scope: text(),
  asked_scope: text(),
  client_id: text(),
  client_secret: text(),
  token_endpoint_auth_method: text(),
  redirect_uri: text(),
  resource: text(),
  server_url: text(),
  authorization_server: optional(Issuer),
})
export type Account = Infer<typeof Account>
export type Issuer = Infer<typeof Issuer>

export const accountOf = (state: Json): Account | undefined => {
  const read = parse(Account, state)
  return read.ok ? read.value : undefined
}

export const issuerOf = ({ metadata, revocation_endpoint }: Discovered): Issuer => {
  const { issuer, authorization_endpoint, token_endpoint, response_types_supported } = metadata
  const { token_endpoint_auth_methods_supported: methods } = metadata
  const { authorization_response_iss_parameter_supported: told } = metadata
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    response_types_supported,
    ...(methods !== undefined && { token_endpoint_auth_methods_supported: methods }),
    ...(revocation_endpoint !== undefined && { revocation_endpoint }),
    ...(typeof told === 'boolean' && { authorization_response_iss_parameter_supported: told }),
  }
}

/** What a token endpoint answered. */
export type Tokens = Awaited<ReturnType<Kit['refreshAuthorization']>>

const sendable = /^[\x21-\x7e]{1,16384}$/u
const longestMs = 366 * 86_400_000

/** Throws `mcp_oauth_failed` for tokens that no header could carry, or of another kind. */
const checkTokens = (server: OauthServer, { access_token, refresh_token, token_type }: Tokens): void => {
  if (![access_token, refresh_token ?? access_token].every((token) => sendable.test(token)))
    throw failed(server, 'it gave a token with characters that no header may have, or none')
  if (token_type.toLowerCase() !== 'bearer') throw failed(server, 'it gave a token that is no bearer token')
}

/** The account as it is with new tokens; a refresh token that was not replaced stays. */
export const withTokens = (
  server: OauthServer,
  before: Account,
  { tokens, now }: { tokens: Tokens; now: number },
): Account => {
  checkTokens(server, tokens)
  const { access_token, refresh_token = before.refresh_token, expires_in, scope = before.scope } = tokens
  const { expires_at_ms: _, ...rest } = before
  return {
    ...rest,
    access_token,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(scope !== undefined && scope !== '' && { scope }),
    // A token that was over before it came is one whose time nobody told: it is used until it is refused.
    ...(expires_in !== undefined &&
      expires_in > 0 && { expires_at_ms: now + Math.min(longestMs, Math.ceil(expires_in * 1000)) }),
  }
}

/** Scopes that were asked for and not given, as far as the authorization server says what it gave. */
export const missingScopes = ({ scope, asked_scope }: Account): readonly string[] => {
  if (scope === undefined || asked_scope === undefined) return []
  const given = new Set(scope.split(' '))
  return asked_scope.split(' ').filter((one) => one !== '' && one !== 'offline_access' && !given.has(one))
}

/** The client that tokens are given to. */
export const clientOf = ({ client_id, client_secret, token_endpoint_auth_method }: Account) =>
  client_id === undefined
    ? undefined
    : {
        client_id,
        ...(client_secret !== undefined && { client_secret }),
        ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
      }
