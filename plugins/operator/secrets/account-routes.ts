/** Accounts: the slots of the mode `oauth_account`, under paths of their own. */
import { array, defineRoute, doc, jsonReply, object, sliced, string, type Route } from '../../../core/plugin.js'
import { SecretStatus, secretErrors } from './contract.js'
import {
  Accepted,
  accountKind,
  AccountRecord,
  exampleOf,
  putProblems,
  removeProblems,
  wishOf,
  type SecretRouteParts,
} from './routes.js'
import type { StoredSlot } from './slots/record.js'

const base = '/v1/runtime/auth/accounts'
const path = `${base}/:slot_id` as const
const params = object({ slot_id: doc(string({ min: 1, max: 200 }), 'Id of the account.') })
const accountProblems = [secretErrors.secret_not_found, secretErrors.secret_not_account] as const
const isAccount = ({ mode }: StoredSlot): boolean => mode === 'oauth_account'

/** Throws `secret_not_found`, and `secret_not_account` for another secret. */
const accountOf = ({ get }: SecretRouteParts, slot_id: string): StoredSlot => {
  const slot = get(slot_id)
  if (!isAccount(slot)) throw secretErrors.secret_not_account({ details: { secret_ref: slot_id } })
  return slot
}

export const accountRoutes = (parts: SecretRouteParts): readonly Route[] => [
  defineRoute({
    id: 'accounts.list',
    method: 'GET',
    path: base,
    summary: 'Accounts by name, without their tokens.',
    access: 'admin',
    reply: jsonReply(array(SecretStatus)),
    handler: () =>
      sliced(function* () {
        for (const slot of parts.list()) if (isAccount(slot)) yield parts.status(slot)
      }),
  }),
  defineRoute({
    id: 'accounts.get',
    method: 'GET',
    path,
    summary: 'One account, without its tokens.',
    access: 'admin',
    params,
    reply: jsonReply(SecretStatus),
    problems: [...accountProblems],
    handler: (input) => parts.status(accountOf(parts, input.params.slot_id)),
  }),
  ...[base, `${base}/mcp-oauth`].map((at) => store(parts, at)),
  refresh(parts),
  removal(parts, 'POST', `${path}/revoke`),
  removal(parts, 'DELETE', path),
  revocation(parts),
]

const mustBe = (member: string, what: string) =>
  secretErrors.secret_invalid({
    details: { what: `${member} must be ${what}` },
    errors: [{ path: `body.${member}`, rule: `must be ${what}` }],
  })

function store(parts: SecretRouteParts, at: string): Route {
  return defineRoute({
    id: at === base ? 'accounts.set' : 'accounts.set_mcp_oauth',
    method: 'POST',
    path: at,
    summary: 'Stores the tokens of an account; the old ones are gone at once.',
    access: 'admin',
    body: AccountRecord,
    reply: jsonReply(SecretStatus),
    problems: [...putProblems],
    durability: 'A',
    example: { body: exampleOf('mcp.files', { client_id: 'holdfast', access_token: '…', refresh_token: '…' }) },
    handler: ({ body }) => {
      const { mode, provider } = accountKind
      const wish = { mode, ...(at !== base && { provider }), ...wishOf(body) }
      if (wish.mode !== mode) throw mustBe('mode', mode)
      if (at !== base && wish.provider !== provider) throw mustBe('provider', provider)
      return parts.put(wish, accountKind)
    },
  })
}

function refresh(parts: SecretRouteParts): Route {
  return defineRoute({
    id: 'accounts.refresh',
    method: 'POST',
    path: `${path}/refresh`,
    summary: 'Gets new tokens for an account now, if it is one that the daemon itself uses.',
    access: 'admin',
    params,
    reply: jsonReply(SecretStatus),
    problems: [...accountProblems, secretErrors.account_refresh_failed, secretErrors.account_refresh_unavailable],
    durability: 'A',
    handler: async (input) => {
      const { slot_id } = accountOf(parts, input.params.slot_id)
      await parts.refresh(slot_id)
      return parts.status(accountOf(parts, slot_id))
    },
  })
}

function removal(parts: SecretRouteParts, method: 'POST' | 'DELETE', at: string): Route {
  return defineRoute({
    id: method === 'POST' ? 'accounts.revoke' : 'accounts.delete',
    method,
    path: at,
    summary: 'Deletes an account that nothing uses, with its tokens.',
    access: 'admin',
    params,
    reply: jsonReply(Accepted),
    problems: [...removeProblems, secretErrors.secret_not_account],
    durability: 'A',
    handler: async (input) => {
      await parts.remove(accountOf(parts, input.params.slot_id).slot_id)
      return { accepted: true }
    },
  })
}

function revocation(parts: SecretRouteParts): Route {
  return defineRoute({
    id: 'auth.revoke_slot',
    method: 'POST',
    path: '/v1/runtime/auth/slots/:slot_id/revoke',
    summary: 'Takes the value of a secret or account, whoever uses it, and ends the leases of it.',
    access: 'admin',
    params,
    reply: jsonReply(SecretStatus),
    problems: [secretErrors.secret_not_found, secretErrors.secrets_key_unusable],
    durability: 'A',
    handler: (input) => parts.revoke(input.params.slot_id),
  })
}
