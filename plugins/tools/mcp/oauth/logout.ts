/** A logout: here first, then at the authorization server. */
import type { State } from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import { accountOf } from './account.js'
import type { AskParts, OauthServer } from './ask.js'
import type { Marks } from './marks.js'
import type { Pending } from './pending.js'
import { revokeTokens } from './revocation.js'

/** What became of it. */
export interface Logout {
  readonly server: string
  readonly logged_out: true
  /** The authorization server took the tokens back. */
  readonly told_server: boolean
  /** Why it did not. */
  readonly reason?: string
}

export interface LogoutParts extends Omit<AskParts, 'server'> {
  readonly slots: SecretSlots
  readonly marks: Marks
  readonly pending: Pending
  readonly state: State
}

export const logOut = async (parts: LogoutParts, server: OauthServer): Promise<Logout> => {
  const { slots, marks, pending, state, outbound, signal } = parts
  const login = pending.of(server.name)
  if (login !== undefined) pending.end(login)
  const { oauth_slot_ref } = server.entry
  const slot = slots.find(oauth_slot_ref)
  const isOurs = slot?.provider === 'mcp_oauth'
  const account = isOurs && slot.details.readable ? accountOf(slots.state(oauth_slot_ref)) : undefined
  // Nobody uses the tokens any more, whatever the authorization server says.
  if (isOurs && slot.details.revoked_at_ms === undefined)
    await state.commit((tx) => {
      slots.revoke(tx, oauth_slot_ref)
      marks.clear(tx, oauth_slot_ref)
    })
  const reason =
    account === undefined ? 'there were no tokens' : await revokeTokens({ outbound, server, signal, account })
  const told_server = reason === undefined
  return { server: server.name, logged_out: true, told_server, ...(reason !== undefined && { reason }) }
}
