import {
  array,
  boolean,
  defineRoute,
  doc,
  enums,
  integer,
  jsonObject,
  jsonReply,
  object,
  optional,
  sliced,
  string,
  timestamp,
  type Json,
  type JsonObject,
  type Route,
} from '../../../core/plugin.js'
import { SecretStatus, secretErrors } from './contract.js'
import {
  modeAliases,
  modes,
  providerAliases,
  providers,
  SlotId,
  type SlotKind,
  type SlotWish,
  type StoredSlot,
} from './slots/record.js'

export interface SecretRouteParts {
  list(): Iterable<StoredSlot>
  status(slot: StoredSlot): SecretStatus
  get(slot_id: string): StoredSlot
  /** `fresh` is what it is if there is none of its name yet. */
  put(wish: SlotWish, fresh: SlotKind): Promise<SecretStatus>
  remove(slot_id: string): Promise<void>
  revoke(slot_id: string): Promise<SecretStatus>
  /** Throws `account_refresh_failed` or `account_refresh_unavailable`. */
  refresh(slot_id: string): Promise<void>
  /** Throws `secrets_key_not_missing`. */
  forgetKey(key_id: string): Promise<void>
  /** Puts a new key in force. */
  rekey(): Promise<{ readonly key_id: string; readonly encrypted_anew: number; readonly unreadable: number }>
}

export const Accepted = object({ accepted: doc(boolean(), 'Always true.') })
const params = object({ secret_ref: doc(string({ min: 1, max: 200 }), 'The slot_id of a secret.') })
const path = '/v1/runtime/secrets/:secret_ref'

const spelled = <const T extends readonly string[]>(names: T, aliases: Readonly<Record<string, T[number]>>) =>
  enums([...names, ...Object.keys(aliases)])
const meant = <const T extends readonly string[]>(
  word: string,
  names: T,
  aliases: Readonly<Record<string, T[number]>>,
): T[number] => aliases[word] ?? names.find((name) => name === word) ?? names[0] ?? word

/** The body that stores a slot; the daemon's clock says when. */
const recordOf = ({ mode, provider }: SlotKind) =>
  object({
    slot_id: doc(SlotId, 'The name that others refer to it by.'),
    provider: optional(
      doc(
        spelled(providers, providerAliases),
        `Whose secret it is; when absent as it is, or \`${provider}\` if it is new.`,
      ),
    ),
    mode: optional(doc(spelled(modes, modeAliases), `What it is; when absent as it is, or \`${mode}\` if it is new.`)),
    state: doc(
      jsonObject(),
      'Never shown again: `{"value": "…"}`, or of an account its tokens, such as `access_token` and `refresh_token`.',
    ),
    updated_at_ms: optional(doc(timestamp(), 'Accepted and not used: the clock of the daemon says when.')),
  })
/** What a secret or an account is that is stored first. */
const secretKind: SlotKind = { mode: 'opaque_secret', provider: 'generic' }
export const accountKind: SlotKind = { mode: 'oauth_account', provider: 'mcp_oauth' }
const SecretRecord = recordOf(secretKind)
export const AccountRecord = recordOf(accountKind)

interface RecordBody {
  readonly slot_id: string
  readonly provider?: string | undefined
  readonly mode?: string | undefined
  readonly state: JsonObject
}
export const wishOf = ({ slot_id, provider, mode, state }: RecordBody): SlotWish => ({
  slot_id,
  ...(provider !== undefined && { provider: meant(provider, providers, providerAliases) }),
  ...(mode !== undefined && { mode: meant(mode, modes, modeAliases) }),
  state,
})

export const putProblems = [
  secretErrors.secret_invalid,
  secretErrors.secrets_full,
  secretErrors.secrets_key_unusable,
] as const
export const removeProblems = [secretErrors.secret_not_found, secretErrors.secret_in_use] as const

export const exampleOf = (slot_id: string, state: Json): Json => ({ slot_id, state })

export const secretRoutes = (parts: SecretRouteParts): readonly Route[] => [
  list(parts),
  read(parts),
  put(parts),
  remove(parts),
  rekey(parts),
  forgetKey(parts),
]

const list = ({ list: slots, status }: SecretRouteParts): Route =>
  defineRoute({
    id: 'secrets.list',
    method: 'GET',
    path: '/v1/runtime/secrets',
    summary: 'Secrets by name, without their values.',
    access: 'admin',
    reply: jsonReply(array(SecretStatus)),
    handler: () =>
      sliced(function* () {
        for (const slot of slots()) yield status(slot)
      }),
  })

const read = ({ get, status }: SecretRouteParts): Route =>
  defineRoute({
    id: 'secrets.get',
    method: 'GET',
    path,
    summary: 'One secret, without its value.',
    access: 'admin',
    params,
    reply: jsonReply(SecretStatus),
    problems: [secretErrors.secret_not_found],
    handler: (input) => status(get(input.params.secret_ref)),
  })

const put = (parts: SecretRouteParts): Route =>
  defineRoute({
    id: 'secrets.set',
    method: 'POST',
    path: '/v1/runtime/secrets',
    summary: 'Stores a secret, or a new value of one, which stays what it is; the old value is gone at once.',
    access: 'admin',
    body: SecretRecord,
    reply: jsonReply(SecretStatus),
    problems: [...putProblems],
    durability: 'A',
    example: { body: exampleOf('connectors.slack.main.bot_token', { value: 'xoxb-…' }) },
    handler: ({ body }) => parts.put(wishOf(body), secretKind),
  })

const remove = (parts: SecretRouteParts): Route =>
  defineRoute({
    id: 'secrets.delete',
    method: 'DELETE',
    path,
    summary: 'Deletes a secret that nothing uses.',
    access: 'admin',
    params,
    reply: jsonReply(Accepted),
    problems: [...removeProblems],
    durability: 'A',
    handler: async (input) => {
      await parts.remove(input.params.secret_ref)
      return { accepted: true }
    },
  })

const forgetKey = (parts: SecretRouteParts): Route =>
  defineRoute({
    id: 'secrets.forget_key',
    method: 'DELETE',
    path: '/v1/runtime/secrets-key/:key_id',
    summary: 'Gives up headers of reply targets that need a key which is lost for good.',
    access: 'admin',
    params: object({ key_id: doc(string({ min: 1, max: 100 }), 'The key, as `secrets_key_missing` names it.') }),
    reply: jsonReply(Accepted),
    problems: [secretErrors.secrets_key_not_missing],
    durability: 'A',
    handler: async (input) => {
      await parts.forgetKey(input.params.key_id)
      return { accepted: true }
    },
  })

const rekey = (parts: SecretRouteParts): Route =>
  defineRoute({
    id: 'secrets.rekey',
    method: 'POST',
    path: '/v1/runtime/secrets-key',
    summary: 'Makes a new key and encrypts all secrets with it; the old key is forgotten.',
    access: 'admin',
    reply: jsonReply(
      object({
        key_id: doc(string(), 'The key that is now in force.'),
        encrypted_anew: doc(integer({ min: 0 }), 'Secrets that were encrypted with it.'),
        unreadable: doc(integer({ min: 0 }), 'Secrets that no known key opens, and which stayed as they are.'),
      }),
    ),
    problems: [secretErrors.secrets_key_unusable, secretErrors.secrets_key_elsewhere],
    durability: 'A',
    handler: () => parts.rekey(),
  })
