/** A slot as it is stored: all but its state in the clear. */
import {
  canonical,
  doc,
  enums,
  integer,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Json,
  type JsonObject,
} from '../../../../core/plugin.js'
import { secretErrors } from './errors.js'

export const providers = ['generic', 'mcp_oauth', 'open_ai', 'anthropic', 'google', 'open_router', 'x_ai'] as const
export type SecretProvider = (typeof providers)[number]
export const modes = ['opaque_secret', 'api_key', 'oauth_account'] as const
export type SecretMode = (typeof modes)[number]

/** How clients may also spell them. */
export const providerAliases: Readonly<Record<string, SecretProvider>> = {
  mcp_o_auth: 'mcp_oauth',
  openai: 'open_ai',
  openrouter: 'open_router',
  xai: 'x_ai',
}
export const modeAliases: Readonly<Record<string, SecretMode>> = { o_auth_account: 'oauth_account' }

/** No slash, blank or control character: it is a part of paths. */
const slotIdRule = 'must be of letters, digits and . _ : @ - alone, and begin with a letter or a digit'
const idPattern = '^[A-Za-z0-9][A-Za-z0-9._:@-]*$'
export const SlotId = string({ min: 1, max: 200, pattern: idPattern, told: slotIdRule })

export const StoredSlot = object({
  slot_id: SlotId,
  provider: enums(providers),
  mode: enums(modes),
  version: doc(integer({ min: 1 }), 'Grows with each change of its state.'),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
  expires_at_ms: optional(timestamp()),
  revoked_at_ms: optional(doc(timestamp(), 'It holds nothing since then.')),
  key_id: string(),
  sealed: doc(string(), 'Nonce, tag and encrypted state, in base64.'),
})
export type StoredSlot = Infer<typeof StoredSlot>

/** What is written: the state is free but for what its mode needs. */
export interface SlotDraft {
  readonly slot_id: string
  readonly provider: SecretProvider
  readonly mode: SecretMode
  /** `{ value }`, or of an account `{ access_token, … }`. */
  readonly state: JsonObject
}

/** What is asked for: what it leaves out of a secret stays as it is (secrets-23). */
export type SlotWish = Pick<SlotDraft, 'slot_id' | 'state'> & Partial<SlotKind>
/** Whose secret it is and what it is. */
export type SlotKind = Pick<SlotDraft, 'provider' | 'mode'>

/** `fresh` is what a secret is that was not there before. */
export const draftFrom = (wish: SlotWish, before: SlotKind | undefined, fresh: SlotKind): SlotDraft => {
  const { provider, mode } = before ?? fresh
  const { slot_id, state } = wish
  return { slot_id, state, provider: wish.provider ?? provider, mode: wish.mode ?? mode }
}

/** Bytes of a state at most. */
export const mostStateBytes = 64 * 1024

const invalid = (path: string, rule: string): Error =>
  secretErrors.secret_invalid({ details: { what: `${path} ${rule}` }, errors: [{ path: `body.${path}`, rule }] })

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value.trim() !== ''

/** Slots that connectors and MCP servers use are theirs by the beginning of their id. */
const checkOwner = ({ slot_id, provider, mode }: SlotDraft): void => {
  const isPlain = provider === 'generic' && mode === 'opaque_secret'
  const isMcpAccount = provider === 'mcp_oauth' && mode === 'oauth_account'
  if (slot_id.startsWith('connectors.') && !isPlain)
    throw invalid('provider', 'must be generic, with the mode opaque_secret, for a secret of a connector')
  if (slot_id.startsWith('mcp.') && !isPlain && !isMcpAccount)
    throw invalid('provider', 'must be generic with opaque_secret, or mcp_oauth with oauth_account, for an MCP server')
  if ((provider === 'mcp_oauth') !== (mode === 'oauth_account') && provider === 'mcp_oauth')
    throw invalid('mode', 'must be oauth_account for mcp_oauth')
}

/** Throws `secret_invalid` for what cannot be kept. */
export const checkDraft = (draft: SlotDraft): void => {
  checkOwner(draft)
  const { mode, state } = draft
  if (mode !== 'oauth_account') {
    if (!isText(state['value'])) throw invalid('state.value', 'must be text that is not blank')
    const [strange] = Object.keys(state).filter((key) => key !== 'value')
    if (strange !== undefined) throw invalid('state', 'must have the member value alone')
  } else {
    if (!isText(state['access_token']) && !isText(state['refresh_token']))
      throw invalid('state', 'must have an access_token or a refresh_token')
    const expires = state['expires_at_ms']
    if (expires !== undefined && !(typeof expires === 'number' && Number.isSafeInteger(expires) && expires >= 0))
      throw invalid('state.expires_at_ms', 'must be Unix time in milliseconds')
  }
  if (Buffer.byteLength(canonical(state)) > mostStateBytes)
    throw invalid('state', `must have at most ${mostStateBytes} bytes`)
}

export const expiryOf = ({ mode, state }: SlotDraft): number | undefined =>
  mode === 'oauth_account' && typeof state['expires_at_ms'] === 'number' ? state['expires_at_ms'] : undefined
