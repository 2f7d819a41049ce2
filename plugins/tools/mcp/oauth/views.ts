/** What operators see of accounts of servers. */
import {
  array,
  boolean,
  commandLine,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Warning,
} from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import { accountOf, missingScopes } from './account.js'
import type { Accounts } from './accounts.js'
import type { OauthServer } from './ask.js'
import type { Pending } from './pending.js'
import type { Wanted } from './wanted.js'

export const OauthView = named(
  'McpOauthView',
  object({
    server: doc(string(), 'Name of the server on the list.'),
    slot_ref: doc(string(), 'The account, as a secret slot.'),
    state: doc(
      enums(['logged_in', 'login_pending', 'login_required']),
      'A login is pending while a person may still finish it, whatever is stored.',
    ),
    reason: optional(doc(string(), 'Why a login is required.')),
    action: optional(doc(string(), 'What to do about it.')),
    issuer: optional(doc(string(), 'The authorization server that gave the tokens.')),
    client_id: optional(string()),
    resource: optional(doc(string(), 'What the tokens are for.')),
    scopes: optional(doc(array(string()), 'What they allow, as far as the authorization server told.')),
    missing_scopes: optional(
      doc(array(string()), 'What was asked for and not given, or what the server said it lacks.'),
    ),
    expires_at_ms: optional(timestamp()),
    can_refresh: doc(boolean(), 'It is renewed without a login.'),
    version: optional(doc(integer({ min: 1 }), 'Grows with each refresh.')),
    login_expires_at_ms: optional(doc(timestamp(), 'A login that is pending can be finished until then.')),
  }),
)
export type OauthView = Infer<typeof OauthView>

export interface ViewParts {
  /** The file of the list, in words. */
  readonly file: string
  readonly accounts: Accounts
  readonly slots: SecretSlots
  readonly pending: Pending
  readonly wanted: Wanted
}

const loginLine = (name: string): string => commandLine('mcp oauth login', name)

/** A client that was registered by hand is known as long as there is an account of it. */
const wayIn = ({ slots }: Pick<ViewParts, 'slots'>, { name, entry }: OauthServer): string => {
  const line = loginLine(name)
  const slot = slots.find(entry.oauth_slot_ref)
  const isKnown = slot?.details.readable === true && accountOf(slots.state(slot.slot_id))?.client_id !== undefined
  if (isKnown) return line
  const byHand = commandLine('mcp oauth login --client-id ID', name)
  return `Log in: ${line} or, where its client was registered by hand, ${byHand}`
}

/** What the operator says is asked for and nothing else: then it is the operator who says more. */
const scopesLine = ({ file }: Pick<ViewParts, 'file'>, { name, entry }: OauthServer): string =>
  entry.oauth_scopes.length === 0
    ? loginLine(name)
    : `Add them to oauth_scopes of [mcp_servers.${name}] in ${file}, then: ${loginLine(name)}`

const accountView = ({ slots, wanted }: ViewParts, server: OauthServer) => {
  const { entry } = server
  const slot = slots.find(entry.oauth_slot_ref)
  if (slot?.details.readable !== true || slot.mode !== 'oauth_account') return { can_refresh: false }
  const account = accountOf(slots.state(slot.slot_id)) ?? {}
  const { client_id, resource, scope, expires_at_ms, refresh_token, authorization_server } = account
  const missing = new Set([...missingScopes(account), ...wanted.of(server)])
  return {
    ...(authorization_server !== undefined && { issuer: authorization_server.issuer }),
    ...(client_id !== undefined && { client_id }),
    ...(resource !== undefined && { resource }),
    ...(scope !== undefined && { scopes: scope.split(' ').filter((one) => one !== '') }),
    ...(missing.size > 0 && { missing_scopes: [...missing] }),
    ...(expires_at_ms !== undefined && { expires_at_ms }),
    can_refresh: refresh_token !== undefined,
    version: slot.details.version,
  }
}

export const viewOf = (parts: ViewParts, server: OauthServer): OauthView => {
  const { name, entry } = server
  const reason = parts.accounts.faultOf(server)
  const login = parts.pending.of(name)
  const state = login !== undefined ? 'login_pending' : reason === undefined ? 'logged_in' : 'login_required'
  return {
    server: name,
    slot_ref: entry.oauth_slot_ref,
    state,
    ...(reason !== undefined && { reason, action: wayIn(parts, server) }),
    ...(reason === undefined && parts.wanted.of(server).length > 0 && { action: scopesLine(parts, server) }),
    ...accountView(parts, server),
    ...(login !== undefined && { login_expires_at_ms: login.expires_at_ms }),
  }
}

const scopesWarning = (parts: Pick<ViewParts, 'wanted' | 'file'>, server: OauthServer): Warning[] => {
  const lacked = parts.wanted.of(server)
  if (lacked.length === 0) return []
  return [
    {
      severity: 'warning',
      code: 'mcp_scopes_missing',
      message: `The MCP server ${server.name} asks for scopes that its account has not: ${lacked.join(' ')}.`,
      related_id: server.name,
      action: scopesLine(parts, server),
    },
  ]
}

export const loginWarnings = (
  parts: Pick<ViewParts, 'accounts' | 'wanted' | 'slots' | 'file'>,
  servers: readonly OauthServer[],
): Warning[] =>
  servers.flatMap((server) => {
    const reason = parts.accounts.faultOf(server)
    if (reason === undefined) return scopesWarning(parts, server)
    return [
      {
        severity: server.entry.required ? ('error' as const) : ('warning' as const),
        code: 'mcp_login_required',
        message: `The MCP server ${server.name} needs a login: ${reason}.`,
        related_id: server.name,
        action: wayIn(parts, server),
      },
    ]
  })
