/** The account of a server as it can be used now, or why it cannot. */
import type { Problem, Tx } from '../../../../core/plugin.js'
import type { SecretSlots } from '../../../operator/secrets/contract.js'
import { accountOf, type Account } from './account.js'
import type { OauthServer } from './ask.js'
import { oauthErrors } from './errors.js'
import type { Mark, Marks } from './marks.js'

/** An account, and which version of it. */
export interface Current {
  readonly account: Account
  readonly version: number
}

export interface Accounts {
  /** Throws `mcp_oauth_login_required`, or `secret_unreadable`. */
  get(server: OauthServer): Current
  /** Why nobody can use it, in words that end a sentence; undefined if it can be used. */
  faultOf(server: OauthServer): string | undefined
  /** Stores it if the version is still the one that it was made of; else false. 0 is the version of none. */
  put(tx: Tx, server: OauthServer, next: { readonly account: Account; readonly of: number }): boolean
  versionOf(server: OauthServer): number
}

export const loginRequired = ({ name }: OauthServer, reason: string): Problem =>
  oauthErrors.mcp_oauth_login_required({ details: { server: name, reason } })

/** What a refusal means, in words that end a sentence. */
export const refusalWords = ({ lost, refused = '' }: Mark): string =>
  `the authorization server refused the refresh token (${refused})` +
  (lost ? ', which an earlier refresh may have used up: its answer was never stored' : '')

const text = JSON.stringify

export const createAccounts = ({ slots, marks }: { readonly slots: SecretSlots; readonly marks: Marks }): Accounts => {
  const faultOf = ({ entry }: OauthServer): string | undefined => {
    const { oauth_slot_ref: slot_ref } = entry
    const slot = slots.find(slot_ref)
    if (slot === undefined) return 'nobody has logged in yet'
    if (slot.details.revoked_at_ms !== undefined) return 'its account was revoked'
    if (slot.mode !== 'oauth_account') return `the secret ${slot_ref} is no account`
    if (!slot.details.readable) return 'its account cannot be decrypted'
    const account = accountOf(slots.state(slot_ref))
    if (account === undefined) return 'its account has fields that do not fit'
    if (account.server_url !== undefined && account.server_url !== entry.url)
      return 'its account is for another address than url says now'
    const mark = marks.find({ slot_ref, version: slot.details.version })
    return mark?.refused === undefined ? undefined : refusalWords(mark)
  }
  return {
    faultOf,
    get(server) {
      const reason = faultOf(server)
      if (reason !== undefined) throw loginRequired(server, reason)
      const { oauth_slot_ref } = server.entry
      const account = accountOf(slots.state(oauth_slot_ref)) ?? {}
      return { account, version: slots.find(oauth_slot_ref)?.details.version ?? 0 }
    },
    versionOf: ({ entry }) => slots.find(entry.oauth_slot_ref)?.details.version ?? 0,
    put(tx, { entry }, { account, of }) {
      const slot_id = entry.oauth_slot_ref
      const now = slots.find(slot_id)?.details.version ?? 0
      if (now !== of) return false
      slots.put(tx, { slot_id, provider: 'mcp_oauth', mode: 'oauth_account', state: JSON.parse(text(account)) })
      marks.clear(tx, slot_id)
      return true
    },
  }
}
