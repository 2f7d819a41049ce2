/** The token of each request to a server with an account. */
import type { Clock } from '../../../../core/plugin.js'
import type { Authorization, Authorize } from '../config/authorization.js'
import type { Account } from './account.js'
import { loginRequired, type Accounts } from './accounts.js'
import type { OauthServer } from './ask.js'
import type { Refresher } from './refresh.js'
import type { Wanted } from './wanted.js'

/** Tokens are renewed this long before they expire, or for a tenth of what is left of a shorter life. Milliseconds. */
const aheadMs = 30_000
/** A token that is refused so soon after it was got is not got again. Milliseconds. */
const freshMs = 10_000

export interface AuthorizationParts {
  readonly accounts: Accounts
  readonly refresher: Refresher
  readonly clock: Clock
  readonly wanted: Wanted
}

export const createAuthorize = ({ accounts, refresher, clock, wanted }: AuthorizationParts): Authorize => {
  const left = ({ expires_at_ms }: Account): number => (expires_at_ms ?? Infinity) - clock.now()
  const tokenOf = async (server: OauthServer): Promise<string> => {
    const { account } = accounts.get(server)
    const { access_token, refresh_token } = account
    if (access_token !== undefined && (left(account) > aheadMs || (refresh_token === undefined && left(account) > 0)))
      return access_token
    if (refresh_token === undefined) throw loginRequired(server, 'its token has expired, and it has no refresh token')
    const isFresh = (refresher.age(server) ?? Infinity) < freshMs
    if (access_token !== undefined && left(account) > 0 && isFresh) return access_token
    try {
      await refresher.refresh(server)
    } catch (error) {
      // It is good for a while yet.
      if (access_token !== undefined && left(account) > 0 && accounts.faultOf(server) === undefined) return access_token
      throw error
    }
    return accounts.get(server).account.access_token ?? ''
  }
  const refused = async (server: OauthServer, token: string): Promise<void> => {
    const { account } = accounts.get(server)
    // Another request has seen to it while this one was under way.
    if (account.access_token !== token) return
    if (account.refresh_token === undefined) throw loginRequired(server, 'it refused the token')
    if ((refresher.age(server) ?? Infinity) < freshMs)
      throw loginRequired(server, 'it refused a token that it was given a moment before')
    await refresher.refresh(server)
  }
  const forbidden = (server: OauthServer, scope: string): never => {
    wanted.add(server, scope)
    throw loginRequired(server, `it asks for scopes that its account has not (${wanted.of(server).join(' ')})`)
  }
  return (name, entry): Authorization | undefined => {
    const { oauth_slot_ref } = entry
    if (oauth_slot_ref === undefined) return undefined
    const server = { name, entry: { ...entry, oauth_slot_ref } }
    return {
      token: () => tokenOf(server),
      refused: (token) => refused(server, token),
      forbidden({ error, scope }) {
        if (error === 'insufficient_scope' && scope !== undefined) forbidden(server, scope)
      },
    }
  }
}
